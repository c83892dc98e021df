"""Task 14.next_look: from what a glimpse has shown to the next place to look at, and how probable that place was."""

from math import log, pi
from operator import add, matmul, mul, sub, truediv

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes

task = Task(
    "14.next_look",
    "from one look to the next",
    arguments=(
        "features B×D",
        "state B×D",
        "weight_features D×D",
        "weight_state D×D",
        "weight_location 2×D",
        "noise B×2",
        "std",
    ),
    result=("state B×D", "location B×2", "log_probability B"),
    gradient_not_asked=("features", "state", "noise"),  # what is promised is that the weights learn
    difficulty=3,
    importance=5,
    minutes=25,
    hints=(
        "There are four steps: the core combines state and features, the location network turns the new state into a mean, the noise moves the mean to a location, and the Gaussian around the mean says how probable that location was. For each result, ask whether it may depend on the weights. The location may not: it was sampled, and the mean learns only through how probable it makes this location.",
        (
            "Take a width of 1, the features 2 and the state 1, the weights 0.25 for features and 0.5 for the state, and 1 and -0.5 for x and y. The new state is ReLU(0.25·2 + 0.5·1) = 1, and the mean is (1, -0.5). With the noise (1, -1) and a std of 0.5, the sampled location is (1.5, -1), so the next location is (1, -1). "
            "The log density is that of (1.5, -1): -(1 + 1) / 2 - ln(2π · 0.25) = -1.4516."
        ),
        "state = ReLU of features times weight_features transposed plus state times weight_state transposed; mean = state times weight_location transposed; drawn = mean plus std times noise, detached; log_probability = minus half the sum over x and y of ((drawn minus mean) / std) squared, minus ln(2π std²); return state, drawn clamped to between -1 and 1, log_probability.",
    ),
    partial=USUAL,
)


@task.property
def locations_lie_in_the_picture(case, value):
    """Both numbers lie from -1 to 1."""
    most = value[1].abs().max().item()
    return (
        f"Both coordinates of a location range from -1 to 1; one of yours is {most:.4g} away from 0."
        if most > 1
        else None
    )


def _inputs(draw, B, D, std, dtype=torch.float32):
    """The states are of ordinary size, so that some places lie outside the picture and most inside."""
    noise = draw.normal(B, 2, dtype=dtype)
    noise = noise + 0.25 * noise.sign()
    weights = (
        draw.normal(D, D, dtype=dtype) / D**0.5,
        draw.normal(D, D, dtype=dtype) / D**0.5,
        draw.normal(2, D, dtype=dtype) / D**0.5,
    )
    return draw.normal(B, D, dtype=dtype), draw.normal(B, D, dtype=dtype), *weights, noise, std


@task.cases
def _(draw):
    for size in sizes(B=5, D=7):
        yield Case(f"{size.B} of width {size.D}", _inputs(draw, size.B, size.D, 0.5), size.full)
    yield Case("a std of 0.2", _inputs(draw, 7, 3, 0.2), True)
    yield Case("a std of 2: many locations lie outside", _inputs(draw, 11, 5, 2.0), True)
    yield Case("two of width 2", _inputs(draw, 2, 2, 0.3))
    features, state, *rest = _inputs(draw, 3, 5, 0.5)
    yield Case("a state of zeros, as before the first look", (features, 0 * state, *rest), True)
    yield Case("a std that is a whole number", _inputs(draw, 3, 5, 1), edge=True)
    yield Case("a single look of width 1", _inputs(draw, 1, 1, 0.5), edge=True)
    *rest, noise, std = _inputs(draw, 3, 5, 0.5)
    yield Case("noise of zeros: a look at the mean", (*rest, 0 * noise, std), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 5, 3, 0.25, torch.float64), True, hazard=True)


@task.steps
def _(features, state, weight_features, weight_state, weight_location, noise, std):
    of_features = yield "the product with weight_features", matmul, features, weight_features.mT
    of_state = yield "the product with weight_state", matmul, state, weight_state.mT
    both = yield "the sum of both products", add, of_features, of_state
    new = yield "the new state", torch.relu, both
    mean = yield "the mean location", matmul, new, weight_location.mT
    moved = yield "the noise times std", mul, noise, std
    drawn = yield "the location drawn", add, mean, moved
    place = yield "the detached location", torch.detach, drawn
    location = yield "the next location", lambda place: place.clamp(-1, 1), place
    apart = yield "the location minus the mean", sub, place, mean
    away = yield "the distance in standard deviations", truediv, apart, std
    squares = yield "the squared distances", torch.square, away
    half = yield "half the sum of squares", lambda squares: squares.sum(1) / 2, squares
    exponent = yield "the exponent", torch.neg, half
    constant = yield "the logarithm of the divisor", lambda std: log(2 * pi * std**2), std
    log_p = yield "the log density", sub, exponent, constant
    return new, location, log_p


MEAN, DRAWN, CUT, LOCATION = "the mean location", "the location drawn", "the detached location", "the next location"
NEW, APART, HALF = "the new state", "the location minus the mean", "half the sum of squares"
CONSTANT = "the logarithm of the divisor"
LOCATION_ALONE = {CUT: left_out, LOCATION: lambda place: place.detach().clamp(-1, 1)}
MEAN_CUT_OFF = {APART: lambda place, mean: place - mean.detach()}


def _spread(power):
    """Changes after which the density takes a power of std for its standard deviation."""
    return {
        "the distance in standard deviations": lambda apart, std: apart / std**power,
        CONSTANT: lambda std: log(2 * pi * std ** (2 * power)),
    }


task.changed_each(
    # What is cut off from its gradient
    ("not_cut_off", "The values are correct, but the sampled location is still a function of the weights: a gradient reaches them through the location, and none through the density, because the mean cancels in it. Detach the location with `.detach()` as soon as it is sampled.", {CUT: left_out}),
    ("location_not_cut_off", "The values are correct, and the density learns as it should. But the location that you return is a function of the weights: a gradient reaches them through it. Return the detached location, clamped to between -1 and 1.", {LOCATION: lambda place, *, done: done[DRAWN].clamp(-1, 1)}),
    ("cut_off_for_looking_alone", "The values are correct, and no gradient reaches the location that you return. But in the density, the location still moves with the mean, so the mean cancels and never learns. Detach the location as soon as it is sampled.", LOCATION_ALONE),
    ("mean_cut_off", "The values are correct, but no gradient reaches the mean through the density, so nothing learns where to look. Detach the sampled location, not the mean.", MEAN_CUT_OFF),
    ("mean_cut_off_in_place_of_the_place", "The values are correct, but you detach the mean in the density instead of the sampled location. It should be the other way round: detach the location as soon as it is sampled, and leave the mean as it is.", LOCATION_ALONE | MEAN_CUT_OFF),
    ("state_cut_off", "The values are correct, but the state that you return is detached. It is a function of the weights, and the next look's gradient has to reach them.", {"result": lambda state, location, log_p: (state.detach(), location, log_p)}),
    ("location_network_reads_a_copy", "The values are correct, but the location network reads a detached state, so the density trains only weight_location. Its gradient should also reach the core.", {MEAN: lambda state, weight: state.detach() @ weight}),
    # The core and the place
    ("no_relu", "ReLU is missing: your new state has negative entries.", {NEW: left_out}),
    ("tanh_in_the_core", "Your core uses tanh. Here it should use ReLU, as in the paper.", {NEW: torch.tanh}),
    ("aims_from_the_old_state", "The mean is computed from the state before this look. Use the new state, which includes what this look saw.", {MEAN: lambda new, weight, *, state: state @ weight}),
    ("mean_kept_in_the_picture", "You clamp the mean to between -1 and 1 before the location is sampled. The mean may be outside the picture: clamp only the location that you return.", {MEAN: lambda state, weight: (state @ weight).clamp(-1, 1)}),
    ("looks_at_the_mean", "The location that you return is the mean. During training, the model looks at the sampled location.", {DRAWN: left_out}),
    ("not_kept_in_the_picture", "Some of your locations are outside the picture. Numbers below -1 become -1, and numbers above 1 become 1.", {LOCATION: left_out}),
    ("squashed", "You apply tanh to the sampled location. Numbers from -1 to 1 stay as they are, and only numbers beyond become -1 or 1.", {LOCATION: torch.tanh}),
    ("density_of_the_kept_place", "Your log density is for the location after clamping. Use the location as it was sampled from the Gaussian, before that.", {APART: lambda place, mean: place.clamp(-1, 1) - mean}),
    # The density
    ("std_taken_for_the_variance", "You use std as the variance in the density. It is the standard deviation: the variance is std².", _spread(0.5)),
    ("variance_taken_for_the_std", "You use std² in the density as if it were the standard deviation; torch.distributions.Normal also expects std itself.", _spread(2)),
    ("exponent_alone", "Your log density is only the exponent. The constants are missing: -ln std and -ln(2π) / 2, once for x and once for y.", {"the log density": left_out}),
    ("not_summed", "You return a log density for x and one for y, B×2. The two are sampled independently: add their log densities.", {HALF: lambda squares: squares / 2, CONSTANT: lambda std: log(2 * pi * std**2) / 2}),
)  # fmt: skip
