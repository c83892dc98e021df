"""Task 17.sharpen: weights that a shift has spread are drawn together again."""

from operator import pow, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.lesson_17._drawn import drawn_weights, one_hot
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one
from course_utils.tasks.shares import USUAL

task = Task(
    "17.sharpen",
    "weights drawn together again",
    arguments=("weights B×N", "gamma B"),
    result="sharpened B×N",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "A power above 1 makes small numbers much smaller, and large ones only a little. What is left is divided by its sum, so that the weights sum to 1 again.",
        "Take the weights [0.6, 0.3, 0.1, 0] and gamma 2. The squares are 0.36, 0.09, 0.01 and 0, and they sum to 0.46. Divided by that they are 0.7826, 0.1957, 0.0217 and 0. With gamma 1 the weights would stay as they are.",
        "Give gamma a second axis of size 1; powers = weights to the power of gamma; return powers divided by their sum over the places, which keeps its axis. Do not take logarithms of weights that are 0.",
    ),
    partial=USUAL
    | {
        "log_of_zero": (0.5, "every weight is right, and its gradient wherever no weight is 0."),
    },
)


@task.property
def nothing_is_added_to_the_sum(case, value):
    """The powers of many small weights have a very small sum."""
    right = task.oracle_function(*(argument.double() for argument in case.args))
    share = torch.where(right > 1e-3, value / right, torch.nan)
    sums = value.double().sum(1)
    low = (sums < 1 - 1e-4) & (sums > 0) & ((share - sums[:, None]).abs().nan_to_num() < 1e-3).all(1)
    return (
        f"For the input “{case.name}” all weights of row {int(low.int().argmax())} are {sums[low][0]:.4g} times what they should be. Do you add a small number to the sum that you divide by? The powers of many small weights have a sum far below 1e-8: divide by it as it is. (`F.normalize` divides by its `eps` where this is larger: `eps=0` leaves the sum alone.) It is not 0, since the weights sum to 1."
        if low.any()
        else None
    )


task.property(rows_sum_to_one)


task.property(no_weight_is_negative)


def _gamma(draw, B, dtype=torch.float32):
    """From 1.5 to 4.5, and the rows of a small batch differ."""
    return draw.distinct(B, 3, 10 + B).to(dtype) / 2 if B < 10 else 1.25 + draw.whole(0, 12, B).to(dtype) / 4


def _inputs(draw, B, N, dtype=torch.float32):
    return drawn_weights(draw, B, N, dtype), _gamma(draw, B, dtype)


def _some_zeros(draw, B, N):
    """Weights that sum to 1, two of which are 0 in each row."""
    weights = torch.nn.functional.pad(drawn_weights(draw, B, N - 2), (1, 1))
    return torch.stack([row[draw.distinct(N, 0, N)] for row in weights])


@task.cases
def _(draw):
    for size in sizes(B=3, places=7):
        name = f"a batch of {size.B}, {size.places} places"
        yield Case(name, _inputs(draw, size.B, size.places), size.full)
    yield Case("a batch of 7, 5 places", _inputs(draw, 7, 5), True)
    yield Case("as many rows in the batch as places", _inputs(draw, 5, 5))
    yield Case("weights of 0", (_some_zeros(draw, 3, 7), _gamma(draw, 3)), True, edge=True)
    yield Case("weights at one place", (one_hot(draw, 3, 5), _gamma(draw, 3)), True, edge=True)
    yield Case("a single place", _inputs(draw, 3, 1), edge=True)
    ends = torch.tensor([1.0, 10.0, 2.0])[draw.distinct(3, 0, 3)]
    yield Case("a gamma of 1 and one of 10", (_some_zeros(draw, 3, 5), ends), edge=True)
    yield Case("200 places", (drawn_weights(draw, 2, 200), torch.tensor([10.0, 7.5])), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, torch.float64), True, edge=True)


@task.oracle
def _(weights, gamma):
    there, rows = weights > 0, []
    for row, some, power in zip(weights, there, gamma, strict=True):
        scores = power * torch.where(some, row, 1.0).log()
        rows.append(torch.where(some, scores, -torch.inf).softmax(0))
    return torch.stack(rows)


@task.steps
def _(weights, gamma):
    powers = yield "the powers", pow, weights, gamma[:, None]
    total = yield "the sum of the powers", lambda powers: powers.sum(-1, keepdim=True), powers
    sharpened = yield "the powers divided by their sum", truediv, powers, total
    return sharpened


# Right sharpening, of which mistakes change one part


def _power(weights, gamma):
    return weights**gamma


def _to_one(powers):
    return powers / powers.sum(-1, keepdim=True)


def _mistake(name, sentence, gammas=lambda gamma: gamma[:, None], power=_power, share=_to_one):
    """Register a sharpening that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda weights, gamma: share(power(weights, gammas(gamma))))


# Gamma

_mistake(
    "gamma_unused",
    "Gamma has no effect: your weights come back as they were. Do you use it as a factor? A factor cancels when you divide by the sum. Raise the weights to the power of gamma.",
    gammas=lambda gamma: 1 + 0 * gamma[:, None],
)
_mistake(
    "root",
    "You raise the weights to the power of 1 / gamma, which spreads them. The exponent is gamma.",
    gammas=lambda gamma: 1 / gamma[:, None],
)
_mistake(
    "gamma_plus_one",
    "You add 1 to gamma. It is 1 or more as it comes: use it as it is.",
    gammas=lambda gamma: 1 + gamma[:, None],
)
_mistake(
    "gamma_minus_one",
    "You subtract 1 from gamma. The exponent is gamma as it comes.",
    gammas=lambda gamma: gamma[:, None] - 1,
)
_mistake(
    "softplus_again",
    "You pass gamma through 1 + softplus first. It is 1 or more as it comes: use it as it is.",
    gammas=lambda gamma: 1 + torch.nn.functional.softplus(gamma[:, None]),
)
_mistake(
    "squared",
    "You square the weights, whatever gamma is. Raise them to the power of gamma.",
    gammas=lambda gamma: 2 + 0 * gamma[:, None],
)
_mistake(
    "first_gamma_for_all",
    "All rows of the batch use the first gamma. Each has its own.",
    gammas=lambda gamma: gamma[:1, None],
)
_mistake(
    "mean_gamma",
    "All rows of the batch use the mean of the gammas. Each has its own.",
    gammas=lambda gamma: gamma.mean(),
)
_mistake(
    "gamma_along_the_places",
    "Your gammas meet the places: gamma 1 is the exponent of place 1 in every row. This runs without an error only where there are as many rows in the batch as places, or a single row. Give gamma a second axis of size 1, `[:, None]`.",
    gammas=lambda gamma: gamma,
)
_mistake(
    "sides_exchanged",
    "Base and exponent are exchanged: you raise gamma to the power of the weights. Raise the weights to the power of gamma.",
    power=lambda weights, gamma: gamma**weights,
)


# From powers to weights

_mistake(
    "not_divided",
    "Your weights no longer sum to 1: the powers come back as they are, or are divided by a sum of the old weights, which is 1. Divide the powers by their own sum.",
    share=lambda powers: powers,
)
_mistake(
    "summed_over_the_batch",
    "You divide by the sum over the batch, so the weights of one place sum to 1 over the rows. Add up over the places, the last axis.",
    share=lambda powers: powers / powers.sum(0),
)
_mistake(
    "summed_over_everything",
    "You divide by the sum over the whole batch. Each row has a sum of its own: add up over the places, the last axis.",
    share=lambda powers: powers / powers.sum(),
)
_mistake(
    "sum_without_its_axis",
    "The sums have lost their axis, so they meet the places in place of the rows. This runs without an error only where there are as many rows in the batch as places, or a single row. `sum(dim=1, keepdim=True)` keeps it.",
    share=lambda powers: powers / powers.sum(1),
)
_mistake(
    "divided_by_the_largest",
    "You divide by the largest power, so the largest weight becomes 1. Divide by the sum.",
    share=lambda powers: powers / powers.amax(-1, keepdim=True),
)
_mistake(
    "to_length_one",
    "You divide by the length of the row, the square root of its sum of squares. Divide by the sum.",
    share=lambda powers: powers / powers.norm(dim=-1, keepdim=True),
)
_mistake(
    "softmax_of_the_powers",
    "You apply a softmax to the powers, which makes them nearly even. They are no scores: divide them by their sum.",
    share=lambda powers: powers.softmax(-1),
)
_mistake(
    "softmax_of_products",
    "You take the softmax of gamma times the weights. In a softmax the exponent would be gamma times their logarithm. Raise the weights to the power of gamma, and divide by the sum.",
    power=lambda weights, gamma: gamma * weights,
    share=lambda scores: scores.softmax(-1),
)
_mistake(
    "largest_takes_all",
    "You give the largest weight everything. Then no gradient comes back: raise the weights to the power of gamma, and divide by the sum.",
    power=lambda weights, gamma: torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype),
)
_mistake(
    "one_minus",
    "You subtract the sharpened weights from 1. Return them as they are.",
    share=lambda powers: 1 - _to_one(powers),
)
_mistake(
    "sum_returned",
    "You return the sums of the powers. Divide the powers by them.",
    share=lambda powers: powers.sum(-1),
)
_mistake(
    "log_of_zero",
    "Every weight is right, but where one is 0 the gradient is NaN: the logarithm of 0 is minus infinity, and its slope is infinite. `**` needs no logarithm, and its gradient at 0 is finite.",
    power=lambda weights, gamma: gamma * weights.log(),
    share=lambda scores: scores.softmax(-1),
)
