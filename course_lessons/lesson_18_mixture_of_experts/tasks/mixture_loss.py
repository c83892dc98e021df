"""Task 18.mixture_loss: a loss under which experts compete instead of working together."""

import torch

from course_lessons.lesson_18_mixture_of_experts.tasks._gates import sparse_gates
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

FAR = (0.5, "correct if a target is near some expert.")
BESIDE = "an expert with a gate of 0 at the target"
NO_GATE = (0.75, "correct if every gate is above 0.")

task = Task(
    __name__,
    "a separate loss for each expert",
    arguments=("outputs B×N×D", "gates B×N", "target B×D"),
    result="loss",
    difficulty=3,
    importance=4,
    minutes=20,
    rows_sum_to_one=("gates",),  # torch.distributions divides them by their sum
    partial=USUAL | {"underflow": FAR, "small_number_added": FAR, "gate_of_zero_nearest": NO_GATE},
)


@task.property
def far_targets_are_finite(case, value):
    """However far they are."""
    if case.args[2].abs().max() > 30 and not value.isfinite():
        return f"For the input “{case.name}” your loss is infinite or NaN. So far from the target every exp is 0 in float32, and log 0 is minus infinity. Add log gate to the exponent, and let torch.logsumexp do the rest."
    return None


@task.property
def far_targets_count(case, value):
    """The farther away they are, the larger the loss, without a limit."""
    if (case.args[2].abs().max() > 90 or case.name == BESIDE) and 0 < value < 60:
        return f"For the input “{case.name}” your loss is only {value:.4g}, which is minus the logarithm of {(-value).exp():.3g}. Did you add such a small number before a logarithm, to the sum or to the gates, or clamp at it? Then the loss stops growing, and the gradient is 0. torch.logsumexp needs no such number."
    return None


def _inputs(draw, B, N, D, far=1.0, dtype=torch.float32):
    """Targets between the experts; no two experts are equally far away."""
    outputs = draw.numbers(B, N, D, dtype=dtype) + torch.arange(N)[:, None].to(dtype) / 8
    gates = sparse_gates(draw, B, N, N, dtype)
    target = draw.numbers(B, D, dtype=dtype) * 0.75 + 0.3
    return outputs * far, gates, target * far


@task.cases
def _(draw):
    for size in sizes(B=3, experts=5, D=7):
        B, N, D = size.B, size.experts, size.D
        yield Case(f"{count(B, 'row')}, {N} experts, D = {D}", _inputs(draw, B, N, D, D**-0.5), size.full)
    yield Case("as many rows as experts", _inputs(draw, 5, 5, 3), True)
    yield Case("as many experts as features", _inputs(draw, 3, 5, 5, 0.5))
    yield Case("as many rows as features", _inputs(draw, 5, 2, 5, 0.5))
    outputs, gates, target = _inputs(draw, 3, 3, 3)
    yield Case("B, N and D all 3, targets above 0", (outputs, gates, target.abs() + 0.125))
    yield Case("a single expert", _inputs(draw, 2, 1, 3), edge=True)
    outputs, gates, target = _inputs(draw, 3, 5, 2)
    yield Case("a target that an expert hits", (outputs, gates, outputs[:, 1].clone()), True, edge=True)
    # Squares of 100 keep too few digits for a gradient.
    yield Case("targets 100 away", (*_inputs(draw, 3, 5, 7)[:2], draw.numbers(3, 7) + 100), edge=True)
    yield Case("numbers of ±10,000", _inputs(draw, 3, 5, 7, 1e4), True, hazard=True)
    outputs, gates, target = _inputs(draw, 3, 5, 7)
    gates[:, 2:4] = 0.0
    gates = gates / gates.sum(1, keepdim=True)
    gates[:, 2:4] = torch.tensor([1e-12, 1e-30])
    yield Case("gates of 1e-12 and 1e-30", (outputs, gates, outputs[:, 3] + 0.25), edge=True)
    outputs, _, target = _inputs(draw, 3, 5, 7)
    yield Case("gates of 0", (outputs, sparse_gates(draw, 3, 5, 2), target), edge=True)
    gates, away = torch.tensor([[0.0, 0.25, 0.75], [0.5, 0.5, 0.0]]), torch.tensor([[0.0, 70, 80], [60.0, 75, 0]])
    beside = draw.numbers(2, 1) + away
    yield Case(BESIDE, (beside[..., None], gates, beside[[0, 1], [0, 2]][:, None]), edge=True)
    # The gradient divides what a sum of 200 has rounded by a gate of 1/200, so correct answers differ in it.
    yield Case("200 experts", _inputs(draw, 2, 200, 3, 0.1), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, 0.5, torch.float64), True, hazard=True)


def over_the_largest(exponents, distances):
    """Take the place of logsumexp: the largest number subtracted is that of the distances alone."""
    top = distances.amax(1, keepdim=True)
    return (exponents - top).exp().sum(1).log() + top[:, 0]
