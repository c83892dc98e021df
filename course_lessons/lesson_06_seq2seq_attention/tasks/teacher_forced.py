"""Task 06.teacher_forced: the whole way of a decoder that looks back before each word, in training."""

import torch

from course_lessons.shared.padding_mistakes import gaps, scattered, summed, with_garbage, without_garbage
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import rows_sum_to_one
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.models import minimal

LOOK = ("weight_s A×H", "weight_h A×E", "v A")
GRU = ("weight_ih 3·H×(D+E)", "weight_hh 3·H×H", "bias_ih 3·H", "bias_hh 3·H")
task = Task(
    "06.teacher_forced",
    "the decoder's way through a sentence",
    arguments=("words B×T×D", "state B×H", "annotations B×S×E", "mask B×S", *LOOK, *GRU),
    result=("states B×T×H", "weights B×T×S"),
    difficulty=3,
    importance=5,
    minutes=25,
    offers=("models.minimal.bahdanau_step", "models.minimal.gru_step"),
    hints=(
        "Each step needs the previous state, so go through the words one after another. A step first attends with the current state, and then lets the GRU compute the next state from the word and the context. Keep the results of each step, and stack them at the end.",
        (
            "Take widths of 1, the words 1 and 2, the first state 0, and a source of one annotation, 3, so that every weight is 1 and every context 3. Suppose the GRU's gates are both 0.5 and its candidate is tanh of word minus context, so that a step gives "
            "0.5·tanh(word - context) + 0.5·state. The first step reads 1 and 3 and starts from the state 0: it gives 0.5·tanh(-2) = -0.4820. The second reads 2 and 3 and starts from -0.4820: it gives 0.5·tanh(-1) - 0.2410 = -0.6218. The states are -0.4820 and -0.6218, the "
            "weights 1 and 1."
        ),
        "states, weights = [], []; for each t: context, shares = attention with the current state; state = the GRU's step of (words[:, t] and context side by side) and that state; append state to states and shares to weights; "
        "return both lists stacked along axis 1.",
    ),
    partial=USUAL,
)


task.property(rows_sum_to_one)


@task.property
def a_single_step_is_right(case, value):
    """The first state depends on the first word alone."""
    words, state, *others = case.args
    right, _ = task.oracle_function(words[:, :1], state, *others)
    apart = (value[0][:, :1] - right).abs().max()
    return "Even the state after the first word is wrong: check a single step." if apart > 1e-4 else None


def _inputs(draw, B, T, S, D, H, E, A, mask):
    shapes = ((B, T, D), (B, H), (B, S, E), (A, H), (A, E), (A,), (3 * H, D + E), (3 * H, H), (3 * H,), (3 * H,))
    words, state, annotations, *weights = (draw.numbers(*shape) for shape in shapes)
    weight_s, weight_h, v, weight_ih, weight_hh, bias_ih, bias_hh = weights
    look = (weight_s / 2 + 0.125, weight_h / 2 - 0.125, v + 0.25)
    gru = (weight_ih / 2 + 0.0625, weight_hh / 2 - 0.0625, bias_ih / 2 + 0.125, bias_hh / 2 - 0.125)
    return words, state, annotations, mask, *look, *gru


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, S=5, D=7, H=11, E=13, A=17):
        B, T = size.B, size.T if size.full else size.T + 1  # two words at least
        S = size.S if size.full else size.S + 1
        name = f"{count(B, 'sentence')}, {T} words from {count(S, 'position')}, widths D={size.D}, H={size.H}, E={size.E}, A={size.A}"
        inputs = _inputs(draw, B, T, S, size.D, size.H, size.E, size.A, gaps(draw, B, S))
        yield Case(name, inputs, size.full)
    yield Case("padding anywhere in a source", _inputs(draw, 3, 2, 5, 3, 2, 4, 3, scattered(draw)))
    no_padding = torch.ones(2, 3, dtype=torch.bool)
    yield Case("D and E both 3, as many sentences as words", _inputs(draw, 2, 2, 3, 3, 5, 3, 4, no_padding))
    yield Case("B, T, S and all widths 3", _inputs(draw, 3, 3, 3, 3, 3, 3, 3, gaps(draw, 3, 3)))
    one = torch.ones(1, 1, dtype=torch.bool)
    yield Case("one word from one position, widths of 1", _inputs(draw, 1, 1, 1, 1, 1, 1, 1, one), True, edge=True)
    empty = gaps(draw, 3, 5)
    empty[1] = False
    yield Case("a source without words", _inputs(draw, 3, 2, 5, 4, 7, 11, 3, empty), True, hazard=True)
    words, state, annotations, mask, *weights = _inputs(draw, 3, 3, 5, 4, 7, 11, 3, scattered(draw))
    behind = with_garbage(annotations, mask)
    yield Case("NaN and infinity at padding", (words, state, behind, mask, *weights), True, hazard=True)
    long = _inputs(draw, 1, 200, 2, 2, 3, 2, 1, torch.ones(1, 2, dtype=torch.bool))
    yield Case("200 words", (0.5 * long[0], *long[1:8], 0.25 * long[8], *long[9:]), edge=True)


SHARES, SEEN, READ, NEXT = "the weights", "the context", "word and context side by side", "the next state"


@task.steps
def _(words, state, annotations, mask, weight_s, weight_h, v, weight_ih, weight_hh, bias_ih, bias_hh):
    gru = weight_ih, weight_hh, bias_ih, bias_hh
    clean, steps = without_garbage(annotations, mask), []
    for word in words.unbind(1):
        look = lambda state: minimal.bahdanau_step(state, clean, mask, weight_s, weight_h, v)[1]  # noqa: E731
        shares = yield SHARES, look, state
        context = yield SEEN, summed, shares, clean
        read = yield READ, _side_by_side, word, context
        state = yield NEXT, lambda read, state: minimal.gru_step(read, state, *gru), read, state
        kept = yield "what is kept of each step", lambda state, shares: (state, shares), state, shares
        steps.append(kept)
    states, weights = zip(*steps, strict=True)
    return torch.stack(states, 1), torch.stack(weights, 1)


def _side_by_side(word, context):
    return torch.cat([word, context], 1)


# The state

LOOKS_WITH_FIRST = {SHARES: lambda now, *, state, right: right(state)}
GOES_ON_FROM_FIRST = {NEXT: lambda read, now, *, state, right: right(read, state)}
task.changed(
    "query_frozen",
    "Every step uses the first state as its query, so all words attend to the same positions. Use the state just before each word.",
    LOOKS_WITH_FIRST,
)
task.changed(
    "state_never_updated",
    "Every step starts from the first state, so the earlier words are lost. Replace the old state with the new one: the next step uses it as its query and continues from it.",
    LOOKS_WITH_FIRST | GOES_ON_FROM_FIRST,
)
task.changed(
    "gru_from_first",
    "At every step, the GRU continues from the first state. Let it continue from the state of the previous step, which is also your query.",
    GOES_ON_FROM_FIRST,
)


def _cut(now, first):
    return now if now is first else now.detach()


task.changed(
    "state_detached",
    "The values are right, but no gradient passes from a step to the previous one, because the state is detached on the way. The weights then learn only what helps in the same step. Leave `.detach()` out.",
    {
        SHARES: lambda now, *, state, right: right(_cut(now, state)),
        NEXT: lambda read, now, *, state, right: right(read, _cut(now, state)),
    },
)

# What is read

task.changed(
    "context_first",
    "The GRU reads the context before the word. The first D columns of weight_ih belong to the word: [word; context].",
    {READ: lambda word, context: _side_by_side(context, word)},
)
task.changed(
    "context_unused",
    "The context has no effect on the states: the decoder ignores what it has seen, so what it writes has nothing to do with the source. Let the GRU read the word and the context side by side.",
    {READ: lambda word, context: _side_by_side(word, 0 * context)},
)
SHIFTED = "The words have already been shifted, as in 05.shift_right: at step t, read word t."
task.changed(
    "shifted_again",
    f"Each step reads the previous step's word, and the first step reads zeros. {SHIFTED}",
    {"words": lambda words: torch.cat([torch.zeros_like(words[:, :1]), words[:, :-1]], 1)},
)

# The look


def _seen_after_the_step_before(shares, annotations, *, done):
    """The context, and zeros in the first step, before which nothing was seen."""
    return summed(shares if NEXT in done else 0 * shares, annotations)


def _next_looks(states, weights, *, annotations, mask, weight_s, weight_h, v):
    """The states, with the weights of looks with these states."""
    looks = [minimal.bahdanau_step(state, annotations, mask, weight_s, weight_h, v)[1] for state in states.unbind(1)]
    return states, torch.stack(looks, 1)


task.changed(
    "looks_after",
    "Your first step reads zeros, and your weights are one step ahead: you attend after the step, with the state that has read the word. Here, a step attends first, with the state before it, and the GRU reads that context.",
    {SEEN: _seen_after_the_step_before, "result": _next_looks},
)
task.changed_each(
    ("weights_of_the_next_look", "The states are right, but the weights are one step ahead: they are computed with the new state. Return the weights from which the step's own context was computed.", {"result": _next_looks}),
    ("mask_unused", "You attend to all positions of the source, including padding: pass the mask at every step.", {"mask": torch.ones_like}),
    ("mask_inverted", 'The mask is the wrong way round: True means "may be attended to".', {"mask": torch.logical_not}),
)  # fmt: skip

# What is returned

task.changed(
    "state_before_kept",
    "Your states are one step late: you keep the state from which a step starts. Keep the state that it returns: the first of these has read the first word.",
    {"result": lambda states, weights, *, state: (torch.cat([state[:, None], states[:, :-1]], 1), weights)},
)
task.changed(
    "cut_anew",
    "Words and sentences are mixed up: you stack the steps one after another and reshape the result into B×T. `view` and `reshape` do not reorder anything: stack along axis 1, or swap the two axes with `transpose`.",
    {"result": lambda *parts: tuple(part.transpose(0, 1).reshape(part.shape) for part in parts)},
)
task.changed(
    "one_tensor_for_all_states",
    "All your states are the last one: you keep the same tensor T times and write each new state into it. Make a new tensor for each state, or keep a copy of it with `clone()`.",
    {"result": lambda states, weights: (states[:, -1:].expand_as(states), weights)},
)
task.changed(
    "order_swapped",
    "You return the weights first; the states should come first.",
    {"result": lambda states, weights: (weights, states)},
)
