"""Task 18.mixture_loss: a loss under which experts compete instead of working together."""

from math import log, pi
from operator import add, sub

import torch

from course_lessons.lesson_18_mixture_of_experts.tasks._gates import sparse_gates
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

FAR = (0.5, "correct if a target is near some expert.")
BESIDE = "an expert with a gate of 0 at the target"
NO_GATE = (0.75, "correct if every gate is above 0.")

task = Task(
    "18.mixture_loss",
    "a separate loss for each expert",
    arguments=("outputs B×N×D", "gates B×N", "target B×D"),
    result="loss",
    difficulty=3,
    importance=4,
    minutes=20,
    rows_sum_to_one=("gates",),  # torch.distributions divides them by their sum
    hints=(
        "Think of the sum as a likelihood: the target comes from expert i with the probability given by its gate, and is near the output of this expert. To keep the numbers from becoming 0, work with logarithms: a gate times an exponential is the exponential of log gate minus half the squared distance. torch.logsumexp adds up exponentials of numbers of any size.",
        "Take the target 3, the outputs 3 and 5 (one number each), and the gates 0.5 and 0.5. The squared distances are 0 and 4, half of each is 0 and 2, and the sum is 0.5·1 + 0.5·0.1353 = 0.5677. The loss is -log 0.5677 = 0.5662. For a second row with the target 4, both experts are off by 1: 0.5·0.6065 + 0.5·0.6065 = 0.6065, and the loss is 0.5. The mean of both is 0.5331.",
        "squared = the sum over the last axis of the squared differences between target, with a second axis of size 1, and outputs: B×N; exponents = log of gates minus squared / 2; likelihoods = logsumexp of exponents over the experts, B; return the mean of minus these.",
    ),
    partial=USUAL
    | {
        "underflow": FAR,
        "small_number_added": FAR,
        "gate_of_zero_nearest": NO_GATE,
    },
)


@task.property
def far_targets_are_finite(case, value):
    """However far they are."""
    return (
        f"For the input “{case.name}” your loss is infinite or NaN. So far from the target every exp is 0 in float32, and log 0 is minus infinity. Add log gate to the exponent, and let torch.logsumexp do the rest."
        if case.args[2].abs().max() > 30 and not value.isfinite()
        else None
    )


@task.property
def far_targets_count(case, value):
    """The farther away they are, the larger the loss, without a limit."""
    return (
        f"For the input “{case.name}” your loss is only {value:.4g}, which is minus the logarithm of {(-value).exp():.3g}. Did you add such a small number before a logarithm, to the sum or to the gates, or clamp at it? Then the loss stops growing, and the gradient is 0. torch.logsumexp needs no such number."
        if (case.args[2].abs().max() > 90 or case.name == BESIDE) and 0 < value < 60
        else None
    )


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
    yield Case(
        BESIDE,
        (beside[..., None], gates, beside[[0, 1], [0, 2]][:, None]),
        edge=True,
    )
    # The gradient divides what a sum of 200 has rounded by a gate of 1/200, so correct answers differ in it.
    yield Case("200 experts", _inputs(draw, 2, 200, 3, 0.1), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, 0.5, torch.float64), True, hazard=True)


@task.steps
def _(outputs, gates, target):
    off = yield "target minus outputs", sub, target[:, None], outputs
    squares = yield "the squared differences", torch.square, off
    squared = yield "the squared distances", lambda squares: squares.sum(-1), squares
    halves = yield "the exponentials' logarithms", lambda squared: -squared / 2, squared
    logs = yield "the logarithms of the gates", torch.log, gates
    exponents = yield "the exponents", add, logs, halves
    likelihoods = yield "the log likelihoods", lambda exponents: exponents.logsumexp(1), exponents
    losses = yield "the negative log likelihoods", torch.neg, likelihoods
    mean = yield "the mean over the batch", torch.mean, losses
    return mean


MIXED_FIRST = "You mix the outputs first and compare their sum with the target. Then each expert compensates for the errors of the others, and all work on everything: equation 1.1 of the paper"
MIXED = {  # what becomes of the loss if it compares one mixed output with the target
    "target minus outputs": lambda target, outputs, *, gates: target[:, 0] - torch.einsum("bn,bnd->bd", gates, outputs),
    "the exponents": lambda logs, halves: halves,
    "the log likelihoods": left_out,
}
WEIGHTED = {
    "the exponents": lambda logs, halves, *, gates: gates * halves,
    "the log likelihoods": lambda weighted: weighted.sum(1),
}


def _over_the_largest(exponents, *, done):
    top = done["the exponentials' logarithms"].amax(1, keepdim=True)
    return (exponents - top).exp().sum(1).log() + top[:, 0]


task.changed_each(
    # Other losses of the paper
    ("mixed_first", f"{MIXED_FIRST}, which it argues against. Compare each expert with the target separately.", MIXED | {"the exponentials' logarithms": torch.neg}),
    ("mixed_first_and_halved", f"{MIXED_FIRST}, but for the factor ½, and the paper argues against it. Compare each expert with the target separately.", MIXED),
    ("log_inside_the_sum", "You weight the experts' errors and add them up, as if the logarithm were inside the sum. First take the sum of gates times exponentials, then its logarithm.", WEIGHTED),
    ("expected_squared_error", "You weight the experts' squared errors and add them up, which is equation 1.2 of the paper. Equation 1.3 multiplies each gate by the exponential of minus half the squared error, adds these products up and takes the logarithm.", WEIGHTED | {"the exponentials' logarithms": torch.neg}),
    # The distances
    ("targets_along_the_experts", "The target, B×D, is lined up with the last two axes of the outputs, N×D, so each expert is compared with another row's target. With several rows and experts, this runs without an error only if there are as many rows as experts. Add a second axis of size 1 to the target: B×1×D.", {"target minus outputs": lambda target, outputs: target[:, 0] - outputs}),
    ("mean_over_the_numbers", "You take the mean of the squared differences over the D entries of an output. The squared distance is their sum.", {"the squared distances": lambda squares: squares.mean(-1)}),
    ("half_forgotten", "The factor ½ is missing in the exponent: take half the squared distance.", {"the exponentials' logarithms": torch.neg}),
    # The gates
    ("gates_without_their_logarithm", "You add the gates to the exponents. A factor before an exponential becomes its logarithm in the exponent: add the logarithms of the gates.", {"the logarithms of the gates": left_out}),
    ("softmax_of_the_gates", "You take a softmax of the gates, or a log_softmax. The gates are not logits: they already sum to 1. Use their logarithm.", {"the logarithms of the gates": lambda gates: gates.log_softmax(1)}),
    ("gates_unused", "The gates have no effect. Multiply each exponential by its gate, or add the gate's logarithm to its exponent.", {"the exponents": lambda logs, halves: halves}),
    # The sum and its logarithm
    ("underflow", "If every expert is far from the target, each exp is 0 in float32, and log 0 is minus infinity. Add log gate to the exponent, and use torch.logsumexp, which subtracts the largest exponent of each row first.", {"the log likelihoods": lambda exponents: exponents.exp().sum(1).log()}),
    ("small_number_added", "You add a small number before the logarithm. If every expert is far from the target, only this number is left: the loss stops growing, and the gradient is 0. Add log gate to the exponent, and use torch.logsumexp.", {"the log likelihoods": lambda exponents: (exponents.exp().sum(1) + 1e-8).log()}),
    ("small_number_at_least", "You replace sums that are almost 0 with a small number before the logarithm. If every expert is far from the target, only this number is left: the loss stops growing, and the gradient is 0. Add log gate to the exponent, and use torch.logsumexp.", {"the log likelihoods": lambda exponents: exponents.exp().sum(1).clamp(min=1e-30).log()}),
    ("gate_of_zero_nearest", "You subtract the largest exponent of all experts. If that expert has a gate of 0 and all others are far away, only 0 is left, and log 0 is minus infinity. Add the logarithms of the gates before you take the maximum, or use torch.logsumexp.", {"the log likelihoods": _over_the_largest}),
    ("log_softmax_for_logsumexp", "You use log_softmax, which returns one number for each expert. Use torch.logsumexp, which adds up over the experts: one number per row.", {"the log likelihoods": lambda exponents: exponents.log_softmax(1)}),
    ("softmax_over_the_batch", "Your logsumexp runs over the batch, axis 0. Each row of the batch has its own sum, over the experts: axis 1.", {"the log likelihoods": lambda exponents: exponents.logsumexp(0)}),
    ("constant_added", "You add the constant of a normal distribution, D/2 times log 2π. With it, the loss would be a negative log likelihood, but the equation leaves it out.", {"result": lambda loss, *, target: loss + target.shape[1] / 2 * log(2 * pi)}),
)  # fmt: skip
