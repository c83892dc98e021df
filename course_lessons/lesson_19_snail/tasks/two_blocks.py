"""Task 19.two_blocks: a dense block and an attention block with three faults, to be repaired (Mishra et al. 2018, section 3.1)."""

from itertools import combinations

import torch
import torch.nn.functional as F

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes

task = Task(
    "19.two_blocks",
    "a SNAIL that sees what it should predict",
    arguments=(
        "x B×T×D",
        "weight_f F×D×2",
        "weight_g F×D×2",
        "dilation",
        "weight_q (D+F)×K",
        "weight_k (D+F)×K",
        "weight_v (D+F)×E",
    ),
    result="y B×T×(D+F+E)",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Nothing here raises an error, so for each line, ask which steps a step can see. Change the last step of x: which outputs change? One fault is in the convolutions and two are in the attention.",
        "Take one feature and the steps 1, 2 and 4, a dilation of 1, and a kernel with 10 for the earlier step and 1 for the step itself. Causal padding gives 0, 1, 2, 4, and the convolution 1, 12, 24. The version shown pads to 1, 2, 4, 0, and its convolution gives 12, 24, 40: each step sees the next one. In the attention, step 0 may see only itself, so its weight is 1.",
        "pad `dilation` zeros before the first step, and none after the last one; later = True strictly above the diagonal; set the scores at `later` to -inf, then take the softmax.",
    ),
    partial=USUAL,
)


def _inputs(draw, B, T, D, F, K, E, dilation, dtype=torch.float32):
    def drawn(*shape):
        return draw.numbers(*shape, dtype=dtype) + 0.125

    f, g = drawn(F, D, 2), drawn(F, D, 2)
    return drawn(B, T, D), f, g, dilation, *(drawn(D + F, width) / D**0.5 for width in (K, K, E))


@task.property
def the_first_part_that_is_wrong(case, value):
    """A step of the result holds x, then the new features, then what was read, which is made of both."""
    x, weight_f, *_ = case.args
    right, (D, F) = task.oracle_function(*case.args), (x.shape[2], len(weight_f))
    if value.shape != right.shape or not value.isfinite().all():
        return None
    off = (value.double() - right.double()).abs() > 1e-4 * (1 + right.abs())
    if off[..., :D].any():
        return "Each step of the result contains x unchanged, then the new features, then the context. Your result does not start with x."
    if off[..., D : D + F].any():
        t = int(off[..., D : D + F].any(-1).any(0).nonzero()[0])
        return f"The new features, entries {D} to {D + F - 1} of a step, are wrong from step {t} on: look at the convolutions, their padding, and at tanh and sigmoid."
    return (
        "x and the new features are correct, but the context is not: look at the attention, its mask and its softmax."
    )


@task.cases
def _(draw):
    for size, dilation in zip(sizes(B=2, T=11, D=3, F=5, K=7, E=13), (1, 1, 2, 1, 2, 1, 2, 3), strict=True):
        B, T = size.B, size.T if size.full else size.T + 3
        name = f"{'1 sequence' if B == 1 else f'{B} sequences'} of {T} steps, D = {size.D}, F = {size.F}, K = {size.K}, E = {size.E}, dilation {dilation}"
        yield Case(name, _inputs(draw, B, T, size.D, size.F, size.K, size.E, dilation), size.full)
    yield Case("a dilation of 4", _inputs(draw, 3, 7, 2, 3, 2, 5, 4), True)
    yield Case("all sizes 3", _inputs(draw, 3, 3, 3, 3, 3, 3, 1))
    yield Case("a single step, one feature", _inputs(draw, 1, 1, 1, 1, 1, 1, 1), True, edge=True)
    yield Case("a dilation larger than the number of steps", _inputs(draw, 2, 3, 2, 3, 2, 2, 8), True, edge=True)
    x, f, g, dilation, *_, value = _inputs(draw, 2, 5, 1, 2, 1, 3, 1)
    rising, large = torch.arange(1, 6).expand(2, 5)[..., None] + torch.zeros_like(x), torch.tensor([[10.0], [0], [0]])
    yield Case("later steps with far larger scores", (rising, f, g, dilation, large, large, value), edge=True)
    yield Case("200 steps, dilation 64", _inputs(draw, 1, 200, 2, 2, 3, 2, 64), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 5, 3, 2, 3, 5, 2, torch.float64), True, hazard=True)


@task.steps
def _(x, weight_f, weight_g, dilation, weight_q, weight_k, weight_v):
    earlier = yield "the earlier step", _earlier, x, dilation
    f = yield "the first convolution", _convolved, earlier, x, weight_f
    g = yield "the second convolution", _convolved, earlier, x, weight_g
    signal = yield "the tanh", torch.tanh, f
    gate = yield "the sigmoid", torch.sigmoid, g
    new = yield "tanh times sigmoid", torch.mul, signal, gate
    dense = yield "the dense block", lambda x, new: torch.cat([x, new], -1), x, new
    query = yield "the queries", torch.matmul, dense, weight_q
    key = yield "the keys", torch.matmul, dense, weight_k
    value = yield "the values", torch.matmul, dense, weight_v
    scores = yield "the scaled scores", lambda q, k: q @ k.mT / k.shape[-1] ** 0.5, query, key
    seen = yield "the mask", _so_far, scores
    masked = yield "the masked scores", lambda scores, seen: scores.masked_fill(~seen, -torch.inf), scores, seen
    weights = yield "the weights", lambda masked: masked.softmax(-1), masked
    read = yield "what each step reads", torch.matmul, weights, value
    return (yield "all side by side", lambda dense, read: torch.cat([dense, read], -1), dense, read)


def _convolved(earlier, now, weight):
    return earlier @ weight[..., 0].mT + now @ weight[..., 1].mT


def _earlier(x, dilation):
    """What each step reads so many steps back: zeros before the first one."""
    return F.pad(x, (0, 0, dilation, 0))[:, : x.shape[1]]


def _so_far(scores, diagonal=0):
    return torch.ones(scores.shape[1:], dtype=torch.bool).tril(diagonal)


def _zeros_after(earlier, now, weight, *, dilation):
    return _convolved(now, F.pad(now, (0, 0, 0, dilation))[:, dilation:], weight)


def _too_far_back(earlier, now, weight, *, dilation):
    return _convolved(_earlier(now, 2 * dilation), earlier, weight)


def _divided_after_the_mask(scores, *, done):
    weights = scores.softmax(-1) * done[SEEN]
    return weights / weights.sum(-1, keepdim=True)


CONVOLUTIONS = ("the first convolution", "the second convolution")
SEEN, MASKED, WEIGHTS = "the mask", "the masked scores", "the weights"
FAULTS = {  # of the version in the prompt: what is changed, and what to do
    "padding": (
        dict.fromkeys(CONVOLUTIONS, _zeros_after),
        "The convolutions see a later step: put the zeros before the first step.",
    ),
    "own_step": (
        {SEEN: lambda scores: _so_far(scores, -1)},
        "A step does not see itself, so step 0 has nothing to attend to: `later` has to be True strictly above the diagonal.",
    ),
    "softmax": (
        {MASKED: left_out, WEIGHTS: lambda scores, *, done: scores.softmax(-1).masked_fill(~done[SEEN], 0.0)},
        "The mask comes after the softmax, so the weights do not sum to 1 and later steps count towards the total: set their scores to -inf first.",
    ),
}
LEFT = (
    "One of the three faults is left.",
    "Two of the three faults are left.",
    "This is the version shown, with its three faults.",
)
for _number, _left in enumerate(LEFT, 1):
    for _names in combinations(FAULTS, _number):
        _changes = {step: change for name in _names for step, change in FAULTS[name][0].items()}
        task.changed("_and_".join(_names) + "_left", " ".join([_left, *(FAULTS[name][1] for name in _names)]), _changes)


task.changed_each(
    ("steps_too_far_back", "The zeros are now before the sequence, but there are too many: as it is, the convolutions skip the current step. Put `dilation` zeros there and none at the end.", dict.fromkeys(CONVOLUTIONS, _too_far_back)),
    ("activations_exchanged", "You have swapped the tanh and the sigmoid. They were correct: weight_f computes the values, and weight_g the gates.", {"the tanh": torch.sigmoid, "the sigmoid": torch.tanh}),
    ("weights_of_the_kernel_exchanged", "The two entries of each kernel are swapped. The first, [..., 0], is for the earlier step, and the second for the step itself, as conv1d has it.", {name: (lambda earlier, now, weight: _convolved(earlier, now, weight.flip(-1))) for name in CONVOLUTIONS}),
    ("own_step_twice", "The convolutions read the step itself twice and no earlier step. Put `dilation` zeros before the first step.", dict.fromkeys(CONVOLUTIONS, lambda earlier, now, weight: _convolved(now, now, weight))),
    ("rolled", "The last steps appear again before the first one, as with `roll`. Put zeros there.", {"the earlier step": lambda x, dilation: x.roll(dilation, 1)}),
    ("dilation_unused", "The dilation has no effect: the convolutions read the previous step. They should read the step `dilation` steps back.", {"dilation": lambda dilation: 1}),
    ("no_gate", "The gate is missing: multiply the tanh of the first convolution by the sigmoid of the second.", {"tanh times sigmoid": left_out}),
    ("added_to_the_gate", "You add tanh and sigmoid. Multiply them: the sigmoid says how much of the tanh goes through.", {"tanh times sigmoid": torch.add}),
    ("tanh_for_both", "Both convolutions go through tanh. The second one computes gates, with a sigmoid.", {"the sigmoid": torch.tanh}),
    ("sigmoid_for_both", "Both convolutions go through the sigmoid. The first one computes values, with tanh.", {"the tanh": torch.sigmoid}),
    ("relu_for_tanh", "The first convolution goes through a ReLU. It should go through tanh.", {"the tanh": torch.relu}),
    # The attention
    ("next_step_seen", "Each step also attends to the next one. `later` has to be True from the first entry above the diagonal on, `triu(1)`.", {SEEN: lambda scores: _so_far(scores, 1)}),
    ("query_and_key_exchanged", "You compute queries with weight_k and keys with weight_q. Swap them.", {"weight_q": lambda weight, *, weight_k: weight_k, "weight_k": lambda weight, *, weight_q: weight_q}),
    ("divided_by_k", "You divide the scores by K. The version shown divides them by √K, which was correct.", {"the scaled scores": lambda query, key: query @ key.mT / key.shape[-1]}),
    ("scale_taken_out", "You have removed the division by √K, which was correct.", {"the scaled scores": lambda query, key: query @ key.mT}),
    ("divided_after_the_mask", "The mask comes after the softmax, and you divide the weights that are left by their sum. If a later step has a far larger score, all the weights that are left are 0, and 0 divided by 0 is NaN: set its score to -inf first.", {MASKED: left_out, WEIGHTS: _divided_after_the_mask}),
    ("no_mask", "Each step attends to all steps, later ones included. The mask has to stay: set the scores of later steps to -inf.", {MASKED: left_out}),
    ("zero_before_the_softmax", "Later steps get a score of 0, which is a score like any other, so they still get weight. Set them to -inf: its exponential is 0.", {MASKED: lambda scores, seen: scores.masked_fill(~seen, 0.0)}),
    ("nan_taken_away", "You have replaced the NaN at step 0 with 0, but the fault behind it remains: a step does not see itself. `later` has to be True strictly above the diagonal.", FAULTS["own_step"][0] | {WEIGHTS: lambda masked: masked.softmax(-1).nan_to_num(0.0)}),
    ("earlier_steps_hidden", "Your mask is inverted: each step attends to itself and to later steps. `later` has to be True above the diagonal, with the keys along the last axis.", {SEEN: lambda scores: _so_far(scores).mT}),
    ("softmax_over_the_queries", "Your softmax runs over the queries, axis 1, so the weights of one step do not sum to 1. It should run over the last axis.", {WEIGHTS: lambda masked: masked.softmax(1)}),
    ("new_features_before_x", "The new features come before x. Put them after x.", {"the dense block": lambda x, new: torch.cat([new, x], -1)}),
    ("read_before_the_rest", "The context comes first in your result. It should come last: x, then the new features, then the context.", {"all side by side": lambda dense, read: torch.cat([read, dense], -1)}),
    ("read_alone", "You return only the context. Put it after x and the new features: B×T×(D+F+E).", {"all side by side": lambda dense, read: read}),
    ("dense_block_alone", "You return the dense block's output. The context should follow it: B×T×(D+F+E).", {"all side by side": left_out}),
    ("new_features_left_out", "Your result lacks the dense block's new features. It should contain x, then the new features, then the context: B×T×(D+F+E).", {"all side by side": lambda dense, read, *, x: torch.cat([x, read], -1)}),
)  # fmt: skip
