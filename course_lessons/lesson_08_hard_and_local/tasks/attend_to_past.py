"""Task 08.attend_to_past: each state of a sequence looks at the states before it."""

from math import sqrt
from operator import matmul, truediv

import torch

from course_lessons.shared.mask_mistakes import filled, masked_softmax_mistakes
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "08.attend_to_past",
    "attention to earlier decoder states",
    arguments=("states B×T×D",),
    result="contexts B×T×D",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Each state is a query, and the states before it are its keys and its values. Which states a query may see depends on its position, so you need a mask over pairs of positions. One row of that mask contains no True at all.",
        (
            "Take three states of width 4: zeros, [2.1972, 0, 0, 0], where 2.1972 is 2 ln 3, and [1, 0, 0, 0]. The first sees nothing, so its context is zeros. The second sees only the first, so its context is zeros as well. The third sees both: the dot products are 0 and "
            "2.1972, which become 0 and ln 3 when divided by √4 = 2, so the weights are 0.25 and 0.75. Its context is [1.6479, 0, 0, 0], since 0.75 · 2.1972 is 1.6479."
        ),
        "scores = states times states transposed, B×T×T, divided by √D; past = True where the column is smaller than the row, T×T; put -inf where past is False; weights = softmax over the columns, zeros where past is False; return weights times "
        "states.",
    ),
    partial=USUAL,
)


@task.property
def first_is_zeros(case, value):
    """Nothing comes before the first state."""
    most = value[:, 0].abs().max()
    return "The first state has no past, so its context is zeros; yours is not." if not most <= 1e-6 else None


@task.property
def second_is_the_first(case, value):
    """Whoever sees one state alone gives it all weight."""
    states = case.args[0]
    return (
        "The second state sees only the first, so its context is the first state itself, whatever the scores are; yours is not. Which states does it see, and do its weights sum to 1?"
        if states.shape[1] > 1 and (value[:, 1] - states[:, 0]).abs().max() > 1e-4 * (1 + states.abs().max())
        else None
    )


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=7):
        T = size.T + 2
        name = f"{count(size.B, 'sequence')} of {T} states, width {size.D}"
        yield Case(name, (draw.numbers(size.B, T, size.D) + 0.25,), size.full)
    yield Case("as many sequences as states", (draw.numbers(3, 3, 5),))
    yield Case("as many states as features", (draw.numbers(2, 5, 5),))
    yield Case("two states", (draw.numbers(3, 2, 5),), True)
    yield Case("a single state", (draw.numbers(2, 1, 3),), True, edge=True)
    yield Case("states of width 1", (draw.numbers(2, 5, 1),), True, edge=True)
    yield Case("200 states", (draw.numbers(1, 200, 3),), edge=True)
    signs = torch.tensor(
        [[100.0, 0.0, 0.0, 0.0], [0.0, 100.0, 0.0, 0.0], [200.0, 100.0, 0.0, 0.0], [-100.0, -200.0, 100.0, 0.0]]
    )
    yield Case("scores of 10,000", (torch.stack([signs, -signs]),), True, hazard=True)


def _past(scores):
    return torch.ones(scores.shape[-2:], dtype=torch.bool).tril(-1)


@task.steps
def _(states):
    products = yield "the dot products", matmul, states, states.mT
    root = yield "√D", sqrt, states.shape[-1]
    scores = yield "the scores", truediv, products, root
    past = yield "which states are seen", _past, scores
    masked = yield "the masked scores", lambda scores, past: scores.masked_fill(~past, -torch.inf), scores, past
    softmax = yield "the softmax", lambda masked: masked.softmax(-1), masked
    weights = yield "the weights", lambda softmax, past: softmax.masked_fill(~past, 0.0), softmax, past
    contexts = yield "the contexts", matmul, weights, states
    return contexts


def _itself(scores):
    return torch.eye(scores.shape[-1], dtype=torch.bool)


FIRST = "The first state has nothing to attend to: its context is zeros."
task.changed_each(
    ("sees_itself", "Each state also sees itself. It should attend only to earlier states: the diagonal is hidden as well, as with `tril(-1)`.", {"which states are seen": lambda scores: _past(scores) | _itself(scores)}),
    ("sees_everything", "Each state sees all states, including later ones. It should attend only to earlier states.", {"which states are seen": lambda scores: torch.ones_like(scores) > 0}),
    ("sees_the_others", "Each state sees all the others, including later ones. It should attend only to earlier states.", {"which states are seen": lambda scores: ~_itself(scores)}),
    ("looks_ahead", "The mask is the wrong way round: each state sees later states and none of its past.", {"which states are seen": lambda scores: _past(scores).mT}),
    ("looks_ahead_and_at_itself", "The mask is inverted: each state sees itself and later states, which should be hidden, and none of its past.", {"which states are seen": lambda scores: ~_past(scores)}),
    ("one_ahead", "Each state also sees itself and the next state. It should attend only to earlier states.", {"which states are seen": lambda scores: torch.ones_like(scores).tril(1) > 0}),
    ("last_one_missing", "The state right before is left out: each state sees only states at least two positions back. It should see all earlier states.", {"which states are seen": lambda scores: _past(scores).tril(-2)}),
    ("last_one_alone", "Each state sees only the one right before it. It should attend to all earlier states.", {"which states are seen": lambda scores: _past(scores).triu(-1)}),
    ("first_row_itself", "Your first state attends to itself, but it should have nothing to attend to: its context is zeros.", {"which states are seen": lambda scores: _past(scores) | _itself(scores) & (torch.arange(scores.shape[-1]) == 0)}),
)  # fmt: skip

task.changed_each(
    ("unscaled", "The scores are not divided by √D. For wide states, they are then so far apart that one state gets nearly all the weight.", {"√D": lambda D: 1}),
    ("divided_by_width", "You divide the scores by D. The scaled dot product divides by √D.", {"√D": lambda D: D}),
    ("half_of_width", "You divide the scores by D/2: `D * 0.5` is half of D, and `D ** 0.5` is its square root.", {"√D": lambda D: D / 2}),
    ("multiplied_by_root", "You multiply the scores by √D. Divide by it.", {"√D": lambda D: D**-0.5}),
)  # fmt: skip

masked_softmax_mistakes(
    task,
    *("masked_after", "masked_with_zeros", "no_softmax", "equal_weights", "overflow"),
    others="earlier states",
    zeros="the weights",
)
task.changed(
    "first_row_nan",
    f"The softmax of nothing but -inf is 0/0, which is NaN. {FIRST}",
    {"the weights": left_out},
)
task.changed(
    "first_row_uniform",
    f"In the first row a very negative but finite number makes all scores equal, so the first state attends equally to all states. {FIRST}",
    {"the masked scores": filled(-1e9), "the weights": left_out},
)
task.changed(
    "plus_infinity_hidden",
    "Every context is zeros. Perhaps hidden scores become +inf, which gives NaN, and you replace NaN with 0. Put -inf there: its exponential is 0.",
    {"the masked scores": filled(torch.inf), "the softmax": lambda masked: masked.softmax(-1).nan_to_num()},
)
task.changed(
    "all_nan",
    "Every context is NaN. That happens if the softmax runs over an axis other than the keys, the last axis, because some of its columns contain nothing but -inf. It also happens if a mask of 0 and 1 is multiplied by -inf, since 0 times infinity is NaN, or if hidden scores become +inf, since infinity divided by infinity is NaN. "
    "Put -inf where the mask is False, and take the softmax over the last axis.",
    {"the softmax": lambda masked: masked.softmax(1), "the weights": left_out},
)
task.changed(
    "gradient_is_nan",
    "The values are right, but the gradient is NaN. In the first row, every score is -inf, so its softmax is NaN. Replacing the NaN later does not keep it out of the gradient if -inf was added to the scores. Set them with masked_fill, or leave the "
    "first state out.",
    {"the masked scores": lambda scores, past: scores + torch.zeros_like(scores).masked_fill(~past, -torch.inf)},
)
task.changed(
    "over_the_queries",
    "Your softmax runs over the queries: the weights that each state receives sum to 1, not the weights that it gives. Let it run over the keys, the last axis.",
    {"the softmax": lambda masked: masked.softmax(1)},
)
task.changed(
    "over_the_batch",
    "Your softmax runs over the batch, so sequences compete with one another. Let it run over the keys, the last axis.",
    {"the masked scores": left_out, "the softmax": lambda scores: scores.softmax(0)},
)
task.changed(
    "along_the_batch",
    "You treat the batch axis as the sequence: each state sees states of other sequences at the same position. The positions are the second axis.",
    {"states": lambda states: states.transpose(0, 1), "result": lambda contexts: contexts.transpose(0, 1)},
)
task.changed(
    "first_left_out",
    "You leave out the first state's context and return T - 1 contexts. Like every state, the first has a context: zeros.",
    {"result": lambda contexts: contexts[:, 1:]},
)
