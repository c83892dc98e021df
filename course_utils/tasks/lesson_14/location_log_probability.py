"""Task 14.location_log_probability: how probable a location was, of a Gaussian around the one that a network proposes."""

from math import e, log, pi
from operator import add, mul, sub, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import USUAL

task = Task(
    "14.location_log_probability",
    "how probable a location was",
    arguments=("location B×2", "mean B×2", "std"),
    result="log_probability B",
    difficulty=2,
    importance=4,
    minutes=15,
    hints=(
        "The two coordinates are drawn independently of each other, so their densities are multiplied, and the logarithms are added. For each coordinate there are three terms: how far it lies from the mean, measured in standard deviations, and two constants that make the density integrate to 1.",
        (
            "Take the mean (0, 0), a std of 0.5 and the location (0.5, 0). The differences are 0.5 and 0; divided by std that is 1 and 0; half of the squares is 0.5 and 0. The constants are ln 0.5 = -0.6931 and ln(2π) / 2 = 0.9189, together 0.2258. "
            "So x has -0.5 - 0.2258 = -0.7258 and y has -0.2258, and the sum is -0.9516. A log density may be above 0: with a std of 0.1 and the location at its mean it is 2.7673."
        ),
        "away = (location minus mean) divided by std, B×2; each = minus half of away squared, minus the natural logarithm of std, minus half of the natural logarithm of 2π, B×2; return the sum of each over its two columns, B.",
    ),
    partial=USUAL
    | {
        "underflow": (0.5, "right for locations that are not far from the mean."),
    },
)


@task.property
def largest_at_the_mean(case, value):
    """Nothing is more probable than the mean."""
    most = -2 * log(case.args[2]) - log(2 * pi)
    return (
        f"The density is largest where the location is the mean: its logarithm there is -2 ln(std) - ln(2π) = {most:.4g} for a std of {case.args[2]:g}. One of yours is {value.max():.4g}."
        if value.max() > most + 1e-3 * (1 + abs(most))
        else None
    )


def _inputs(draw, B, std, dtype=torch.float32):
    """Locations some standard deviations away from their means, x and y differently far."""
    mean = 2 * torch.rand(B, 2, generator=draw.generator, dtype=torch.float64) - 1
    away = torch.randn(B, 2, generator=draw.generator, dtype=torch.float64)
    away = away + 0.25 * away.sign() * torch.tensor([1, 3])
    return (mean + std * away).to(dtype), mean.to(dtype), std


@task.cases
def _(draw):
    for size in sizes(B=3):
        yield Case(f"{count(size.B, 'location')}, std 0.5", _inputs(draw, size.B, 0.5), size.full)
    for B, std in ((5, 0.25), (11, 0.15), (7, 2.0)):
        yield Case(f"{count(B, 'location')}, std {std:g}", _inputs(draw, B, std), True)
    yield Case("two locations, std 0.3", _inputs(draw, 2, 0.3), True)
    yield Case("a std of 1", _inputs(draw, 5, 1.0))
    yield Case("a std that is a whole number", (*_inputs(draw, 5, 2.0)[:2], 2), edge=True)
    yield Case("a single location", _inputs(draw, 1, 0.2), True, edge=True)
    _, mean, _ = _inputs(draw, 3, 0.2)
    yield Case("locations at their means", (mean.clone(), mean, 0.2), True, edge=True)
    far = torch.tensor([[30.0, 0.0], [0.0, -50.0], [20.0, 20.0]])[draw.distinct(3, 0, 3)]
    yield Case("locations 50 standard deviations away", (mean + 0.2 * far, mean, 0.2), True, edge=True)
    yield Case("means near ±10,000", (1e4 * mean + far, 1e4 * mean, 0.5), True, hazard=True)
    yield Case("200 locations", _inputs(draw, 200, 0.3), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 5, 0.25, torch.float64), True, edge=True)


@task.oracle
def _(location, mean, std):
    rows = []
    for at, middle in zip(location, mean, strict=True):
        squares = (at[0] - middle[0]) ** 2 + (at[1] - middle[1]) ** 2
        rows.append(-squares / (2 * std * std) - log(2 * pi * std * std))
    return torch.stack(rows)


@task.steps
def _(location, mean, std):
    difference = yield "the difference of location and mean", sub, location, mean
    away = yield "the difference in standard deviations", truediv, difference, std
    squares = yield "the squares of the difference in standard deviations", torch.square, away
    halves = yield "half of the squares", mul, squares, 0.5
    of_std = yield "the logarithm of std", torch.log, torch.tensor(float(std), dtype=torch.float64)
    constants = yield "the constants", add, of_std, 0.5 * log(2 * pi)
    each = yield "minus the log density of each coordinate", add, halves, constants
    both = yield "the log density of each coordinate", torch.neg, each
    total = yield "the sum over the two coordinates", lambda both: both.sum(1), both
    return total


# A right log density, of which mistakes change one part


def _each(location, mean, std):
    return -(((location - mean) / std) ** 2) / 2 - log(std) - log(2 * pi) / 2


def _mistake(name, sentence):
    """Decorator: what is summed over the two coordinates, function(location, mean, std)."""

    def register(each):
        def location_log_probability(location, mean, std):
            return each(location, mean, std).sum(1)

        task.mistake(sentence, name)(location_log_probability)

    return register


@_mistake("density", "You add the densities of the two coordinates. Add their logarithms.")
def _(location, mean, std):
    return _each(location, mean, std).exp()


@_mistake("two_pi_forgotten", "ln(2π) / 2 is missing, once for each of the two coordinates.")
def _(location, mean, std):
    return _each(location, mean, std) + log(2 * pi) / 2


@_mistake("std_forgotten", "-ln std is missing, once for each of the two coordinates: a narrow Gaussian is high.")
def _(location, mean, std):
    return _each(location, mean, std) + log(std)


@_mistake(
    "exponent_alone",
    "Your result is the exponent alone, minus half of the squared distance in standard deviations. The constants are missing: -ln std and -ln(2π) / 2, once for each of the two coordinates.",
)
def _(location, mean, std):
    return -(((location - mean) / std) ** 2) / 2


@_mistake("sign_of_std", "ln std is added, where it should be subtracted: a narrow Gaussian is high.")
def _(location, mean, std):
    return _each(location, mean, std) + 2 * log(std)


@_mistake("sign_of_two_pi", "ln(2π) / 2 is added, where it should be subtracted.")
def _(location, mean, std):
    return _each(location, mean, std) + log(2 * pi)


@_mistake(
    "whole_log_of_two_pi",
    "You subtract ln(2π) for each coordinate. It is half of that: the density is divided by the root of 2π.",
)
def _(location, mean, std):
    return _each(location, mean, std) - log(2 * pi) / 2


@_mistake("pi_for_two_pi", "You take ln π where ln(2π) belongs.")
def _(location, mean, std):
    return _each(location, mean, std) + log(2) / 2


@_mistake(
    "half_forgotten",
    "The squared distance is not halved: the exponent is minus the square of (location - mean) / std, divided by 2.",
)
def _(location, mean, std):
    return _each(location, mean, std) - (((location - mean) / std) ** 2) / 2


@_mistake(
    "std_not_squared",
    "You divide the squared difference by 2 std, where 2 std² belongs: divide by std before you square, or by its square afterwards.",
)
def _(location, mean, std):
    return -((location - mean) ** 2) / (2 * std) - log(std) - log(2 * pi) / 2


@_mistake(
    "not_divided_by_std",
    "You square the difference of location and mean as it is. Divide it by std first: what counts is how many standard deviations lie between the two.",
)
def _(location, mean, std):
    return -((location - mean) ** 2) / 2 - log(std) - log(2 * pi) / 2


@_mistake(
    "std_taken_for_the_variance",
    "You take std for the variance. It is the standard deviation, the root of the variance.",
)
def _(location, mean, std):
    return _each(location, mean, std**0.5)


@_mistake(
    "variance_taken_for_the_std",
    "You use std² as if it were the standard deviation. It is std itself; torch.distributions.Normal, too, wants std and not its square.",
)
def _(location, mean, std):
    return _each(location, mean, std**2)


@_mistake(
    "not_squared",
    "You do not square the distance: minus half of its magnitude in standard deviations is not the exponent of a Gaussian.",
)
def _(location, mean, std):
    return -((location - mean) / std).abs() / 2 - log(std) - log(2 * pi) / 2


@_mistake("exponent_added", "The sign of the squared distance is turned round: far locations are less probable.")
def _(location, mean, std):
    return _each(location, mean, std) + ((location - mean) / std) ** 2


@_mistake("negative", "The sign is turned round: you return minus the log density.")
def _(location, mean, std):
    return -_each(location, mean, std)


@_mistake("in_bits", "The logarithm has base 2. Use the natural one.")
def _(location, mean, std):
    return _each(location, mean, std) / log(2)


@_mistake("in_decimal", "The logarithm has base 10. Use the natural one.")
def _(location, mean, std):
    return _each(location, mean, std) * log(e, 10)


@_mistake(
    "squashed",
    "You apply tanh to mean before you compare. Use it as it comes in: the network has already kept it in range.",
)
def _(location, mean, std):
    return _each(location, mean.tanh(), std)


# The two coordinates


@task.mistake("You return the mean over the two coordinates. Their log densities are added.")
def averaged(location, mean, std):
    return _each(location, mean, std).mean(1)


@task.mistake("You return a log density for each coordinate, B×2. Add the two.")
def not_summed(location, mean, std):
    return _each(location, mean, std)


@task.mistake("You add over the batch, which gives two numbers. Add over the two coordinates, which gives B.")
def summed_over_the_batch(location, mean, std):
    return _each(location, mean, std).sum(0)


@task.mistake("You add up everything. There is one number per location: add over the two coordinates alone.")
def summed_over_all(location, mean, std):
    return _each(location, mean, std).sum()


@task.mistake(
    "You return the mean over the batch. There is one number per location: add over the two coordinates alone."
)
def mean_over_the_batch(location, mean, std):
    return _each(location, mean, std).sum(1).mean()


@task.mistake("The constants, -ln std and -ln(2π) / 2, come once. Each of the two coordinates has them.")
def constants_once(location, mean, std):
    return _each(location, mean, std).sum(1) + log(std) + log(2 * pi) / 2


@task.mistake("You use x alone. y has a log density, too: add the two.")
def x_alone(location, mean, std):
    return _each(location, mean, std)[:, 0]


@task.mistake("You use y alone. x has a log density, too: add the two.")
def y_alone(location, mean, std):
    return _each(location, mean, std)[:, 1]


@task.mistake(
    "You multiply the log densities of the two coordinates. The densities are multiplied, so their logarithms are added."
)
def multiplied(location, mean, std):
    return _each(location, mean, std).prod(1)


@task.mistake("You return the density. Return its natural logarithm.")
def density_of_both(location, mean, std):
    return _each(location, mean, std).sum(1).exp()


@task.mistake("Your result has an axis of size 1 too many: B×1. One number for each location is asked for, B.")
def axis_kept(location, mean, std):
    return _each(location, mean, std).sum(1, keepdim=True)


@task.mistake("The mean of the first location is used for all. Each has its own.")
def first_mean_for_all(location, mean, std):
    return _each(location, mean[:1], std).sum(1)


@task.mistake(
    "You compute the density and take its logarithm afterwards. Some standard deviations away the density is too small for float32 and becomes 0, whose logarithm is infinite. Compute with the logarithms from the start."
)
def underflow(location, mean, std):
    return (-(((location - mean) / std) ** 2).sum(1) / 2).exp().div(2 * pi * std**2).log()


@task.mistake(
    "A small number is added to the density before its logarithm is taken, or the density is kept from being small, so that far locations seem more probable than they are. Compute with the logarithms from the start, which need no such help."
)
def something_added(location, mean, std):
    return ((-(((location - mean) / std) ** 2).sum(1) / 2).exp().div(2 * pi * std**2) + 1e-8).log()


# Gradients


@task.mistake(
    "The values are right, but no gradient reaches mean, so the network that proposes it could not learn where to look. Leave mean as it is."
)
def mean_cut_off(location, mean, std):
    return _each(location, mean.detach(), std).sum(1)


@task.mistake(
    "The values are right, but no gradient reaches location. A location that was drawn should be cut off, and that is done where it is drawn: here both come in as they are."
)
def location_cut_off(location, mean, std):
    return _each(location.detach(), mean, std).sum(1)


@task.mistake(
    "The values are right, but the gradient is NaN where a location is its mean: the root of 0 has an infinite slope there. The squared distance needs no root."
)
def through_the_root(location, mean, std):
    distance = (location - mean).square().sum(1).sqrt()
    return -((distance / std) ** 2) / 2 - 2 * log(std) - log(2 * pi)
