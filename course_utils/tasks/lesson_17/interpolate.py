"""Task 17.interpolate: a gate between where the key points to and where the head was."""

from operator import add, mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.lesson_17._drawn import drawn_gates, drawn_weights
from course_utils.tasks.shares import USUAL

task = Task(
    "17.interpolate",
    "look for something new, or stay where you are",
    arguments=("content B×N", "previous B×N", "gate B"),
    result="weights B×N",
    difficulty=1,
    importance=4,
    minutes=5,
    hints=(
        "The gate shares each place out between two voices: the weights by content and the weights of the step before. A gate of 1 listens only to the content, a gate of 0 only to the step before.",
        "Take the weights by content [0.8, 0.2], the previous weights [0.1, 0.9] and the gate 0.75. At the first place that is 0.75·0.8 + 0.25·0.1 = 0.6 + 0.025 = 0.625, and at the second 0.75·0.2 + 0.25·0.9 = 0.15 + 0.225 = 0.375. Both together are 1 again.",
        "Give gate a second axis of size 1, so that each row meets its own gate; return gate times content, plus what is left of 1 times previous.",
    ),
    partial=USUAL,
)


@task.property
def a_weight_lies_between_the_two(case, value):
    """So does every mean."""
    content, previous, _ = case.args
    below, above = torch.minimum(content, previous) - 1e-4, torch.maximum(content, previous) + 1e-4
    outside = (value < below) | (value > above)
    if not outside.any():
        return None
    row, place = divmod(int(outside.int().argmax()), content.shape[1])
    return f"Each weight should lie between the one by content and the previous one. At place {place} of row {row} these are {content[row, place]:.4g} and {previous[row, place]:.4g}, and yours is {value[row, place]:.4g}."


def _inputs(draw, B, N, dtype=torch.float32):
    return drawn_weights(draw, B, N, dtype), drawn_weights(draw, B, N, dtype), drawn_gates(draw, B, dtype=dtype)


@task.cases
def _(draw):
    for size in sizes(B=3, places=7):
        name = f"a batch of {size.B}, {size.places} places"
        yield Case(name, _inputs(draw, size.B, size.places), size.full)
    yield Case("a batch of 7, 5 places", _inputs(draw, 7, 5), True)
    yield Case("as many rows in the batch as places", _inputs(draw, 5, 5))
    yield Case("a single place", _inputs(draw, 3, 1), edge=True)
    content, previous, _ = _inputs(draw, 3, 5)
    gate = torch.tensor([0.0, 1.0, 0.5])[draw.distinct(3, 0, 3)]
    yield Case("gates of 0, 1 and a half", (content, previous, gate), True, edge=True)
    content, _, gate = _inputs(draw, 3, 5)
    yield Case("previous weights of zeros", (content, torch.zeros(3, 5), gate), True, edge=True)
    yield Case("200 places", _inputs(draw, 2, 200), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, torch.float64), True, edge=True)


@task.oracle
def _(content, previous, gate):
    rows = zip(content, previous, gate, strict=True)
    return torch.stack([before + g * (new - before) for new, before, g in rows])


@task.steps
def _(content, previous, gate):
    new = yield "gate times content", mul, gate[:, None], content
    left = yield "1 minus gate", sub, 1, gate[:, None]
    old = yield "1 minus gate, times previous", mul, left, previous
    weights = yield "the sum of both", add, new, old
    return weights


def _mix(content, previous, gate):
    return gate * content + (1 - gate) * previous


def _mistake(name, sentence, mix=_mix, gates=lambda gate: gate[:, None], after=lambda weights: weights):
    """Register an interpolation that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda content, previous, gate: after(mix(content, previous, gates(gate))))


_mistake(
    "gate_turned_round",
    "Your gate is the wrong way round: a gate of 1 keeps the previous weights. It should let the content through: the gate belongs to content, and 1 minus the gate to previous.",
    gates=lambda gate: 1 - gate[:, None],
)
_mistake(
    "gate_along_the_places",
    "Your gates meet the places: gate 1 belongs to place 1 of every row. This runs without an error only where there are as many rows in the batch as places, or a single row. Give the gates a second axis of size 1, `[:, None]`.",
    gates=lambda gate: gate,
)
_mistake(
    "gate_unused",
    "The gate has no effect: you take the mean of content and previous. Weigh content by the gate, and previous by 1 minus the gate.",
    gates=lambda gate: 0 * gate[:, None] + 0.5,
)
_mistake(
    "first_gate_for_all",
    "All rows of the batch use the first gate. Each has its own.",
    gates=lambda gate: gate[:1, None],
)
_mistake(
    "mean_gate",
    "All rows of the batch use the mean of the gates. Each has its own.",
    gates=lambda gate: gate.mean(),
)
_mistake(
    "sigmoid_again",
    "You pass the gate through a sigmoid. It lies between 0 and 1 as it comes: use it as it is.",
    gates=lambda gate: gate[:, None].sigmoid(),
)
_mistake(
    "gate_rounded",
    "You take either content or previous, whichever the gate is nearer to. Then no gradient reaches the gate, and it could not be learned. Mix the two.",
    gates=lambda gate: gate[:, None].round(),
)
_mistake(
    "content_only",
    "The previous weights have no effect: you return the gate times content. Add 1 minus the gate, times previous.",
    mix=lambda content, previous, gate: gate * content,
)
_mistake(
    "previous_only",
    "Content has no effect: you return 1 minus the gate, times previous. Add the gate times content.",
    mix=lambda content, previous, gate: (1 - gate) * previous,
)
_mistake(
    "content_returned",
    "You return content as it came. Mix it with the previous weights, by the gate.",
    mix=lambda content, previous, gate: content,
)
_mistake(
    "previous_returned",
    "You return previous as it came. Mix it with the weights by content, by the gate.",
    mix=lambda content, previous, gate: previous,
)
_mistake(
    "previous_not_gated",
    "You add all of previous to the gate times content, so the weights sum to more than 1. Multiply previous by 1 minus the gate.",
    mix=lambda content, previous, gate: gate * content + previous,
)
_mistake(
    "content_not_gated",
    "You add all of content to 1 minus the gate times previous, so the weights sum to more than 1. Multiply content by the gate.",
    mix=lambda content, previous, gate: content + (1 - gate) * previous,
)
_mistake(
    "gate_for_both",
    "You multiply both content and previous by the gate. Previous gets what is left: 1 minus the gate.",
    mix=lambda content, previous, gate: gate * content + gate * previous,
)
_mistake(
    "subtracted",
    "You subtract the part of previous from that of content. Add the two.",
    mix=lambda content, previous, gate: gate * content - (1 - gate) * previous,
)
_mistake(
    "brackets_missing",
    "Brackets are missing: `1 - gate * previous` multiplies first and subtracts afterwards. Write (1 - gate) * previous.",
    mix=lambda content, previous, gate: gate * content + 1 - gate * previous,
)
_mistake(
    "as_a_product",
    "You raise both to powers and multiply them, a mean of logarithms. The equation is a sum: gate times content, plus 1 minus the gate times previous.",
    mix=lambda content, previous, gate: content**gate * previous ** (1 - gate),
)
_mistake(
    "multiplied",
    "You multiply the two parts. Add them.",
    mix=lambda content, previous, gate: gate * content * (1 - gate) * previous,
)
_mistake(
    "larger_of_both",
    "You take the larger of the two parts at each place. Add them.",
    mix=lambda content, previous, gate: torch.maximum(gate * content, (1 - gate) * previous),
)
_mistake(
    "softmax_of_the_mix",
    "You apply a softmax to the mix, which makes it nearly even. Two rows that sum to 1 make one that does: return the mix as it is.",
    after=lambda weights: weights.softmax(-1),
)
_mistake(
    "renormalised",
    "You divide the mix by its sum. That changes it where the previous weights sum to less than 1, as zeros before the first step do. Return the mix as it is.",
    after=lambda weights: weights / weights.sum(-1, keepdim=True),
)
_mistake(
    "first_previous_for_all",
    "All rows of the batch use the previous weights of the first one. Each has its own.",
    mix=lambda content, previous, gate: _mix(content, previous[:1], gate),
)
_mistake(
    "every_gate_with_every_row",
    "Your result is B×B×N: every gate meets every row of weights. Give the gates one more axis and no second one, `[:, None]`, so that each meets its own row.",
    gates=lambda gate: gate[:, None, None],
)
_mistake(
    "both_returned",
    "You return the two parts side by side, B×2×N. Add them.",
    mix=lambda content, previous, gate: torch.stack([gate * content, (1 - gate) * previous], 1),
)


@task.mistake(
    "In 1 minus the gate the second axis is missing, so these numbers meet the places. This runs without an error only where there are as many rows in the batch as places, or a single row. Give the gate its axis first, `gate = gate[:, None]`, and use it in both parts."
)
def axis_missing_for_previous(content, previous, gate):
    return gate[:, None] * content + (1 - gate) * previous


@task.mistake(
    "The gate that multiplies content has no second axis, so its numbers meet the places. This runs without an error only where there are as many rows in the batch as places, or a single row. Give the gate its axis first, `gate = gate[:, None]`, and use it in both parts."
)
def axis_missing_for_content(content, previous, gate):
    return gate * content + (1 - gate[:, None]) * previous


@task.mistake(
    "No gradient reaches previous. The step before decided where the head was, and training has to reach it: use previous as it comes, without detach."
)
def previous_detached(content, previous, gate):
    return _mix(content, previous.detach(), gate[:, None])
