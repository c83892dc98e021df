"""Task 08.local_weights: weights in a window around a centre, falling off like a Gaussian."""

from math import pi
from operator import mul, sub

import torch
import torch.nn.functional as F

from course_lessons.shared.mask_mistakes import filled, masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.padding_mistakes import words_first
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import no_weight_is_negative
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "08.local_weights",
    "weights in a window around a centre",
    arguments=("scores B×S", "centre B", "window", "mask B×S"),
    result="weights B×S",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Two things decide how much weight a position gets: its share of the softmax, which runs only over the positions in the window, and its distance from the centre. Compute the distances first, because both need them.",
        (
            "Take the scores 0, 1.0986 and 9, where 1.0986 is ln 3, the centre 0 and a window of 1. The distances are 0, 1 and 2, so the positions 0 and 1 are within reach. The softmax of their scores gives 0.25 and 0.75. With σ = 1 / 2 the Gaussian is "
            "exp(0) = 1 at position 0 and exp(-1 / 0.5) = 0.1353 at position 1. The weights are 0.25, 0.1015 and 0, and they do not sum to 1."
        ),
        "distance = positions 0 to S - 1 minus centre as B×1, B×S; near = mask, and the absolute distance at most window; put -inf where near is False; weights = softmax over S, zeros where near is False; sigma = window / 2; return weights times "
        "exp of minus distance squared over 2 sigma squared.",
    ),
    partial=USUAL
    | {
        "empty_row_nan": (0.5, "right where some position is within reach."),
        "empty_row_uniform": (0.5, "right where some position is within reach."),
        "garbage_times_zero": (0.5, "right where padding contains ordinary numbers."),
    },
)
task.property(no_weight_is_negative)


def _distance(scores, centre):
    return torch.arange(scores.shape[1]) - centre[:, None]  # B S


def _near(scores, centre, window, mask):
    return mask & (_distance(scores, centre).abs() <= window)


@task.property
def nothing_out_of_reach(case, value):
    """No weight at padding, nor outside the window."""
    scores, centre, window, mask = case.args
    if (value[~mask].abs() > 1e-6).any():
        return f"For the input “{case.name}” one of your weights where the mask is False is {value[~mask].abs().max():.4g}; it should be 0."
    far = value[~_near(*case.args)].abs()
    return (
        f"For the input “{case.name}” a position further from the centre than the window, {window}, has the weight {far.max():.4g}; it should be 0."
        if (far > 1e-6).any()
        else None
    )


@task.property
def never_more_than_the_softmax(case, value):
    """The Gaussian is 1 at most."""
    most = value.sum(1).max()
    return (
        f"The weights of a row should sum to at most 1, since the Gaussian can only reduce them; for the input “{case.name}” the weights of one row sum to {most:.4g}."
        if most > 1 + 1e-4
        else None
    )


@task.property
def factor_is_the_gaussian(case, value):
    """The weights go with the distance: with each position's share of the softmax taken out, the Gaussian is left."""
    scores, centre, window, mask = (
        arg.double() if torch.is_tensor(arg) and arg.is_floating_point() else arg for arg in case.args
    )
    near = _near(scores, centre, window, mask)
    shares = _softmax(scores, near)
    row, place = divmod(int(torch.where(near, shares, 0.0).argmax()), mask.shape[1])
    factor, distance = value[row, place].item() / shares[row, place].item(), abs(place - centre[row].item())
    right = 2.718281828459045 ** (-2 * (distance / window) ** 2)
    return (
        f"For the input “{case.name}” position {place} of row {row} is {distance:.4g} away from the centre, and its share of the softmax over the window is {shares[row, place]:.4g}. The Gaussian there is {right:.4g}, and your weight is {factor:.4g} times the share."
        if abs(factor - right) > 1e-3
        else None
    )


@task.property
def nothing_in_reach_gives_zeros(case, value):
    """A sum over no position is 0."""
    empty = ~_near(*case.args).any(1) & case.args[0].isfinite().all()
    return (
        f"For the input “{case.name}” no position of row {int(empty.int().argmax())} is within reach, and 0/0 is NaN. {EMPTY}"
        if value[empty].isnan().any()
        else None
    )


def _centre(draw, B, S):
    """Numbers within a row of S positions: eighths, none a multiple of a half, so that no distance is exactly a window."""
    return draw.whole(0, 2 * S - 1, B) / 2 + torch.where(draw.whole(0, 2, B) > 0, 0.125, -0.125)


def _inputs(draw, B, S, window, mask):
    return draw.numbers(B, S), _centre(draw, B, S), window, mask


@task.cases
def _(draw):
    for size in sizes(B=3, S=7):
        B, S = size.B, size.S + 2
        window, every = (2, 1, 1.5, 2.5)[int(draw.whole(0, 4, 1))], torch.ones(B, S, dtype=torch.bool)
        name = f"{count(B, 'row')} of {count(S, 'position')}, a window of {window}"
        yield Case(f"{name}, no padding", _inputs(draw, B, S, window, every), size.full)
        padded = words_first(draw.whole(2, S, B), S)
        centre = (padded.sum(1) - 1) * draw.whole(1, 8, B) / 8 + 0.0625
        yield Case(f"{name}, with padding", (draw.numbers(B, S), centre, window, padded), size.full)
    every = torch.ones(5, 11, dtype=torch.bool)
    yield Case("5 rows of 11 positions, a window of 3", _inputs(draw, 5, 11, 3, every), True)
    exactly = torch.tensor([3.0, 4.0, 2.0])[draw.distinct(3, 0, 3)]
    yield Case("positions exactly 2 away from the centre", (draw.numbers(3, 7), exactly, 2, every[:3, :7]))
    halves = torch.tensor([2.5, 3.5])
    yield Case("positions exactly 1.5 away from the centre", (draw.numbers(2, 7), halves, 1.5, every[:2, :7]))
    yield Case("as many rows as positions", _inputs(draw, 5, 5, 1.5, every[:5, :5]))
    yield Case("a window wider than the row", _inputs(draw, 3, 5, 10, every[:3, :5]))
    one = torch.ones(2, 1, dtype=torch.bool)
    yield Case("a single position", (draw.numbers(2, 1), torch.tensor([0.25, 0.5]), 1, one), True, edge=True)
    beside = torch.tensor([2.5, 1.0, 6.9])
    yield Case("no position within reach", (draw.numbers(3, 5), beside, 0.25, every[:3, :5]), True, edge=True)
    gone = words_first(torch.tensor([4, 0, 2]), 5)
    yield Case(
        "a row that is all padding", (draw.numbers(3, 5), torch.tensor([2.4, 1.3, 0.6]), 2, gone), True, edge=True
    )
    garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan, torch.nan])
    behind = torch.where(gone, draw.numbers(3, 5), garbage)
    yield Case("NaN and infinity at padding", (behind, torch.tensor([2.4, 1.3, 0.6]), 2, gone), True, hazard=True)
    far = torch.tensor([[1e4, 9999.0, -1e4, 0.0, 1e4], [-9999.0, -1e4, -9998.0, 1e4, 1e4]])
    yield Case(
        "very large scores, near ±10,000", (far, torch.tensor([1.25, 0.75]), 2, every[:2, :5]), True, hazard=True
    )
    long = words_first(torch.tensor([200, 127]), 200)
    centre = torch.tensor([101.3, 64.8])
    yield Case("200 positions", (draw.numbers(2, 200), centre, 10, long), True, edge=True)


@task.steps
def _(scores, centre, window, mask):
    distance = yield "the distances", sub, torch.arange(scores.shape[1]), centre[:, None]
    far = yield "the absolute distances", torch.abs, distance
    near = yield "the positions within reach", lambda far, window: mask & (far <= window), far, window
    masked = yield "the masked scores", lambda scores, near: scores.masked_fill(~near, -torch.inf), scores, near
    softmax = yield "the softmax", lambda masked: masked.softmax(-1), masked
    shares = yield "the shares", lambda softmax, near: softmax.masked_fill(~near, 0.0), softmax, near
    sigma = yield "sigma", lambda window: window / 2, window
    scaled = yield "the scaled distances", lambda distance, sigma: distance / sigma, distance, sigma
    squared = yield "the squared distances", torch.square, scaled
    exponent = yield "the exponent", mul, squared, -0.5
    gaussian = yield "the Gaussian", torch.exp, exponent
    weights = yield "the weights", mul, shares, gaussian
    return weights


def _softmax(scores, near):
    return scores.masked_fill(~near, -torch.inf).softmax(-1).masked_fill(~near, 0.0)


# Which places are in reach

REACH = "the positions within reach"
task.changed_each(
    ("edge_left_out", "A position at exactly the distance of the window gets no weight. It is within reach: compare with `<=`.", {REACH: lambda far, window, *, mask: mask & (far < window)}),
    ("no_window", "The window has no effect: every real position takes part in the softmax. Only positions at most `window` from the centre should.", {REACH: lambda far, window, *, mask: mask}),
    ("window_halved", "Your window is only half as wide as it should be: positions up to `window` from the centre are within reach, on both sides. Only σ is half the window.", {REACH: lambda far, window, *, mask: mask & (far <= window / 2)}),
    ("mask_unused", "The mask has no effect: padding in the window gets weight like a word.", {REACH: lambda far, window: far <= window}),
    ("mask_inverted", 'The mask is the wrong way round: True means "is real", and those are the positions you hide.', {REACH: lambda far, window, *, mask: ~mask & (far <= window)}),
)  # fmt: skip


# The centre

task.changed(
    "counted_from_one",
    "Your positions are counted from 1. The first position is position 0.",
    {"the distances": lambda places, centre: places + 1 - centre},
)
for name, sentence, rounding in (
    ("centre_rounded", "You round the centre to a whole position.", torch.round),
    ("centre_cut_off", "You cut off the decimals of the centre, as `int` and `long` do.", torch.floor),
):
    task.changed(
        name,
        f"{sentence} Then no gradient reaches it, and the Gaussian is centred on the wrong position: use the centre as it is given.",
        {"centre": rounding},
    )
task.changed(
    "centre_lined_up_with_places",
    "The centre has no axis for the positions, so position i is paired with the centre of row i, which runs only if B = S or B = 1. Give it an axis, B×1.",
    {"the distances": lambda places, centre: (places - centre.mT).expand(len(centre), len(places))},
)
task.changed(
    "centre_cut",
    "The weights are right, but no gradient reaches the centre, which can only be learned through the Gaussian: use the tensor itself there, without `.detach()`, `.item()` or torch.tensor(…).",
    {"centre": torch.detach},
)


# The softmax

EMPTY = "If no position is within reach, return zeros."
task.changed(
    "mask_inverted_nan",
    "The mask is used the wrong way round: you hide the positions within reach. If every position is within reach, nothing is left, and the softmax of nothing but -inf gives NaN.",
    {REACH: lambda far, window, *, mask: ~(mask & (far <= window)), "the shares": left_out},
)
masked_softmax_mistakes(
    task, "no_softmax", "masked_with_zeros", "fill_undercut", "overflow", others="positions", zeros="the shares"
)
plus_infinity_mistakes(task, others="positions", zeros="the shares")
task.changed(
    "masked_with_zeros_and_after",
    "Scores out of reach become 0 before the softmax, and their weights become 0 after it. exp(0) = 1 is a share like any other, and it is then missing from the positions within reach. Use -inf before the softmax.",
    {"the masked scores": filled(0.0)},
)
task.changed(
    "empty_row_nan",
    f"If no position is within reach, the softmax of nothing but -inf is 0/0, which is NaN. {EMPTY}",
    {"the shares": left_out},
)
task.changed(
    "empty_row_uniform",
    f"If no position is within reach, a very negative but finite number makes all scores equal, and positions out of reach share the weight. {EMPTY}",
    {"the masked scores": filled(-1e9), "the shares": left_out},
)
task.changed(
    "garbage_times_zero",
    "What is at a False position of the mask may be NaN or infinite, and NaN times 0, or NaN minus infinity, is NaN. Replace such scores with -inf, using masked_fill or torch.where, which ignore what was there.",
    {"the masked scores": lambda scores, near: scores + torch.zeros_like(scores).masked_fill(~near, -torch.inf)},
)
task.changed(
    "window_after_softmax",
    "The softmax runs over all real positions, and the window is cut out of its result. Positions out of reach have then already taken their share: only positions within reach should take part in the softmax.",
    {"the masked scores": lambda scores, near, *, mask, right: right(scores, mask)},
)
task.changed(
    "everything_after_softmax",
    "You apply the window and the Gaussian to a softmax over everything, including padding. Only the real positions within reach should take part in the softmax.",
    {"the masked scores": left_out},
)
task.changed(
    "over_the_batch",
    "Your softmax runs over the batch, so rows compete with one another. Each row spreads its weight over its own positions, the last axis.",
    {"the softmax": lambda masked: masked.softmax(0).nan_to_num()},
)


# The Gaussian

EXPONENT = "the exponent is minus the squared distance over 2σ²"


def _for_exponent(formula):
    """A change of the exponent to function(distances, sigma)."""
    return {"the exponent": lambda *_, done: formula(done["the distances"], done["sigma"])}


task.changed_each(
    ("sigma_is_the_window", "σ is half the window, but you use the whole window, so the Gaussian falls off too slowly.", {"sigma": lambda window: window}),
    ("sigma_without_its_half", "σ is half the window, but yours is cut off to a whole number, as with `window // 2`: half of 1 is 0.5, not 0. Write `window / 2`.", {"sigma": lambda window: window // 2}),
    ("sigma_not_squared", f"σ is not squared: {EXPONENT}. You divide by 2σ, which is the window.", _for_exponent(lambda distance, sigma: -(distance**2) / (2 * sigma))),
    ("two_is_missing", f"The 2 in the denominator is missing: {EXPONENT}, and you divide by σ².", _for_exponent(lambda distance, sigma: -(distance**2) / sigma**2)),
    ("multiplied_by_sigma", "You divide by 2 and then multiply by σ², but you should divide by both: put 2σ² in brackets.", _for_exponent(lambda distance, sigma: -(distance**2) / 2 * sigma**2)),
    ("distance_not_squared", "The distance is not squared: a Gaussian falls off with the squared distance.", _for_exponent(lambda distance, sigma: -distance.abs() / (2 * sigma**2))),
    ("no_exponential", "You multiply by the exponent itself, which is 0 at the centre and negative elsewhere. The Gaussian is its exponential.", {"the Gaussian": left_out}),
    ("growing", "The minus sign in the exponent is missing, so the weights grow with the distance from the centre.", {"the Gaussian": lambda exponent: (-exponent).exp()}),
)  # fmt: skip

task.changed(
    "density",
    "You multiply by the density of a normal distribution, which has a factor 1/(σ√(2π)) in front. Here there is none: the Gaussian is 1 at the centre.",
    {"the Gaussian": lambda exponent, *, done: exponent.exp() / (done["sigma"] * (2 * pi) ** 0.5)},
)
task.changed(
    "normalised_again",
    "Your weights sum to 1 in each row where some position is within reach: either they are normalised again after the Gaussian, or the exponent of the Gaussian is added to the scores, inside the softmax. Multiply the softmax of the scores by the Gaussian and leave the products as they are; the weight that the Gaussian removes is not redistributed.",
    {"the weights": lambda shares, gaussian: F.normalize(shares * gaussian, 1, -1, 1e-30)},
)
task.changed(
    "gaussian_before_softmax",
    "You multiply the scores by the Gaussian and take the softmax afterwards. Take the softmax of the scores first, and multiply its weights by the Gaussian.",
    {"the weights": lambda _, gaussian, *, scores, done: _softmax(scores * gaussian, done[REACH])},
)
