"""Task 08.local_weights: weights in a window around a centre, falling off like a Gaussian."""

from math import pi
from operator import mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.lesson_05._padded import words_first
from course_utils.tasks.properties import no_weight_is_negative
from course_utils.tasks.shares import USUAL

task = Task(
    "08.local_weights",
    "weights in a window around a centre",
    arguments=("scores B×S", "centre B", "window", "mask B×S"),
    result="weights B×S",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Two things decide how much a place gets: its share of the softmax, in which only the places of the window take part, and its distance from the centre. Find the distances first: both need them.",
        (
            "Take the scores 0, 1.0986 and 9, where 1.0986 is ln 3, the centre 0 and a window of 1. The distances are 0, 1 and 2, so the places 0 and 1 are in reach. The softmax of their scores gives 0.25 and 0.75. With σ = 1 / 2 the Gaussian is "
            "exp(0) = 1 at place 0 and exp(-1 / 0.5) = 0.1353 at place 1. The weights are 0.25, 0.1015 and 0, and they do not sum to 1."
        ),
        "distance = places 0 to S - 1 minus centre as B×1, B×S; near = mask, and distance without its sign at most window; put -inf where near is False; weights = softmax over S, zeros where near is False; sigma = window / 2; return weights times "
        "exp of minus distance squared over 2 sigma squared.",
    ),
    partial=USUAL
    | {
        "empty_row_nan": (0.5, "right where some place is in reach."),
        "empty_row_uniform": (0.5, "right where some place is in reach."),
        "garbage_times_zero": (0.5, "right where ordinary numbers stand at padding."),
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
        f"For the input “{case.name}” a place that is further away from the centre than the window, {window}, has the weight {far.max():.4g}; it should be 0."
        if (far > 1e-6).any()
        else None
    )


@task.property
def never_more_than_the_softmax(case, value):
    """The Gaussian is 1 at most."""
    most = value.sum(1).max()
    return (
        f"The weights of a row should sum to 1 at most, since the Gaussian only takes away; for the input “{case.name}” those of one row sum to {most:.4g}."
        if most > 1 + 1e-4
        else None
    )


@task.property
def factor_is_the_gaussian(case, value):
    """The weights go with the distance: with each place's share of the softmax taken out, the Gaussian is left."""
    scores, centre, window, mask = (
        arg.double() if torch.is_tensor(arg) and arg.is_floating_point() else arg for arg in case.args
    )
    near = _near(scores, centre, window, mask)
    shares = _softmax(scores, near)
    row, place = divmod(int(torch.where(near, shares, 0.0).argmax()), mask.shape[1])
    factor, distance = value[row, place].item() / shares[row, place].item(), abs(place - centre[row].item())
    right = 2.718281828459045 ** (-2 * (distance / window) ** 2)
    return (
        f"For the input “{case.name}” place {place} of row {row} is {distance:.4g} away from the centre, and its share of the softmax over the window is {shares[row, place]:.4g}. The Gaussian there is {right:.4g}, and your weight is {factor:.4g} times the share."
        if abs(factor - right) > 1e-3
        else None
    )


@task.property
def nothing_in_reach_gives_zeros(case, value):
    """A sum over no place is 0."""
    empty = ~_near(*case.args).any(1) & case.args[0].isfinite().all()
    return (
        f"For the input “{case.name}” no place of row {int(empty.int().argmax())} is in reach, and 0/0 is NaN. {EMPTY}"
        if value[empty].isnan().any()
        else None
    )


def _centre(draw, B, S):
    """Numbers within a row of S places: eighths, none a multiple of a half, so that no distance is exactly a window."""
    return draw.whole(0, 2 * S - 1, B) / 2 + torch.where(draw.whole(0, 2, B) > 0, 0.125, -0.125)


def _inputs(draw, B, S, window, mask, dtype=torch.float32):
    return draw.numbers(B, S, dtype=dtype), _centre(draw, B, S).to(dtype), window, mask


@task.cases
def _(draw):
    for size in sizes(B=3, S=7):
        B, S = size.B, size.S + 2
        window, every = (2, 1, 1.5, 2.5)[int(draw.whole(0, 4, 1))], torch.ones(B, S, dtype=torch.bool)
        name = f"{count(B, 'row')} of {count(S, 'place')}, a window of {window}"
        yield Case(f"{name}, no padding", _inputs(draw, B, S, window, every), size.full)
        padded = words_first(draw.whole(2, S, B), S)
        centre = (padded.sum(1) - 1) * draw.whole(1, 8, B) / 8 + 0.0625
        yield Case(f"{name}, with padding", (draw.numbers(B, S), centre, window, padded), size.full)
    every = torch.ones(5, 11, dtype=torch.bool)
    yield Case("5 rows of 11 places, a window of 3", _inputs(draw, 5, 11, 3, every), True)
    exactly = torch.tensor([3.0, 4.0, 2.0])[draw.distinct(3, 0, 3)]
    yield Case("places exactly 2 away from the centre", (draw.numbers(3, 7), exactly, 2, every[:3, :7]))
    halves = torch.tensor([2.5, 3.5])
    yield Case("places exactly 1.5 away from the centre", (draw.numbers(2, 7), halves, 1.5, every[:2, :7]))
    yield Case("as many rows as places", _inputs(draw, 5, 5, 1.5, every[:5, :5]))
    yield Case("a window wider than the row", _inputs(draw, 3, 5, 10, every[:3, :5]))
    one = torch.ones(2, 1, dtype=torch.bool)
    yield Case("a single place", (draw.numbers(2, 1), torch.tensor([0.25, 0.5]), 1, one), True, edge=True)
    beside = torch.tensor([2.5, 1.0, 6.9])
    yield Case("no place in reach", (draw.numbers(3, 5), beside, 0.25, every[:3, :5]), True, edge=True)
    gone = words_first(torch.tensor([4, 0, 2]), 5)
    yield Case(
        "a row that is all padding", (draw.numbers(3, 5), torch.tensor([2.4, 1.3, 0.6]), 2, gone), True, edge=True
    )
    garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan, torch.nan])
    behind = torch.where(gone, draw.numbers(3, 5), garbage)
    yield Case("NaN and infinity at padding", (behind, torch.tensor([2.4, 1.3, 0.6]), 2, gone), True, hazard=True)
    far = torch.tensor([[1e4, 9999.0, -1e4, 0.0, 1e4], [-9999.0, -1e4, -9998.0, 1e4, 1e4]])
    yield Case("scores of ±10,000", (far, torch.tensor([1.25, 0.75]), 2, every[:2, :5]), True, hazard=True)
    long = words_first(torch.tensor([200, 127]), 200)
    centre = torch.tensor([101.3, 64.8])
    yield Case("200 places", (draw.numbers(2, 200), centre, 10, long), True, edge=True)
    double = _inputs(draw, 3, 5, 2, every[:3, :5], torch.float64)
    yield Case("float64 numbers", double, True, edge=True)


@task.oracle
def _(scores, centre, window, mask):
    rows = []
    for row, c, real in zip(scores, centre, mask, strict=True):
        row = torch.where(real, row, 0.0)
        near = [s for s in range(len(row)) if real[s] and abs(s - c.item()) <= window]
        most = max((row[s].item() for s in near), default=0.0)
        total = sum((row[s] - most).exp() for s in near)
        gaussian = [torch.exp(-2 * ((s - c) / window) ** 2) for s in range(len(row))]
        rows.append(
            torch.stack(
                [(row[s] - most).exp() / total * gaussian[s] if s in near else 0 * row[s] for s in range(len(row))]
            )
        )
    return torch.stack(rows)


@task.steps
def _(scores, centre, window, mask):
    scores = scores.masked_fill(~mask, 0.0)
    distance = yield "the distances", sub, torch.arange(scores.shape[1]), centre[:, None]
    far = yield "the distances without their signs", torch.abs, distance
    near = yield "the places in reach", lambda far, window: mask & (far <= window), far, window
    masked = yield "the masked scores", lambda scores, near: scores.masked_fill(~near, -torch.inf), scores, near
    softmax = yield "the softmax", lambda masked: masked.softmax(-1), masked
    shares = yield "the shares", lambda softmax, near: softmax.masked_fill(~near, 0.0), softmax, near
    sigma = yield "sigma", lambda window: window / 2, window
    scaled = yield "the distances divided by sigma", lambda distance, sigma: distance / sigma, distance, sigma
    squared = yield "the squared distances", torch.square, scaled
    exponent = yield "the exponent", mul, squared, -0.5
    gaussian = yield "the Gaussian", torch.exp, exponent
    weights = yield "the weights", mul, shares, gaussian
    return weights


def _softmax(scores, near):
    return scores.masked_fill(~near, -torch.inf).softmax(-1).masked_fill(~near, 0.0)


def _gaussian(distance, window):
    return torch.exp(-(distance**2) / (2 * (window / 2) ** 2))


def _weights(
    scores,
    centre,
    window,
    mask,
    distance=_distance,
    near=lambda far, window, mask: mask & (far <= window),
    softmax=_softmax,
    gaussian=_gaussian,
    mix=lambda shares, gaussian, near: shares * gaussian,
):
    """Weights that are right but for the parts that are given."""
    away = distance(scores, centre)
    reach = near(away.abs(), window, mask)
    return mix(softmax(scores, reach), gaussian(away, window), reach)


def _normalised(weights):
    return weights / weights.sum(1, keepdim=True).clamp(min=1e-30)


def _elsewhere(shift):
    return lambda scores, centre: _distance(scores, shift(centre))


EMPTY = "Where no place is in reach, return zeros."
PARTS = {  # mistakes in one part: what is said, and the part
    "edge_left_out": (
        "A place that is exactly as far away as the window reaches gets no weight. It is in reach: compare with `<=`.",
        {"near": lambda far, window, mask: mask & (far < window)},
    ),
    "sigma_is_the_window": (
        "σ is half the window, and you use the whole window for it. With that the Gaussian falls off too slowly.",
        {"gaussian": lambda away, window: _gaussian(away, 2 * window)},
    ),
    "sigma_is_a_quarter": (
        "σ is half the window, and you use a quarter of it. With that the Gaussian falls off too fast.",
        {"gaussian": lambda away, window: _gaussian(away, window / 2)},
    ),
    "sigma_without_its_half": (
        "σ is half the window, and yours is cut off to a whole number, as `window // 2` does: half of 1 is 0.5, not 0. Write `window / 2`.",
        {"gaussian": lambda away, window: torch.exp(-(away**2) / (2 * (window // 2) ** 2))},
    ),
    "sigma_not_squared": (
        "σ is not squared: the exponent is minus the squared distance over 2σ². You divide by 2σ, which is the window.",
        {"gaussian": lambda away, window: torch.exp(-(away**2) / window)},
    ),
    "two_is_missing": (
        "The 2 in the denominator is missing: the exponent is minus the squared distance over 2σ², and you divide by σ².",
        {"gaussian": lambda away, window: torch.exp(-(away**2) / (window / 2) ** 2)},
    ),
    "multiplied_by_sigma": (
        "You divide by 2 and then multiply by σ², where you should divide by both: put 2σ² into brackets.",
        {"gaussian": lambda away, window: torch.exp(-(away**2) / 2 * (window / 2) ** 2)},
    ),
    "distance_not_squared": (
        "The distance is not squared: a Gaussian falls off with the squared distance.",
        {"gaussian": lambda away, window: torch.exp(-away.abs() / (2 * (window / 2) ** 2))},
    ),
    "growing": (
        "The minus sign in the exponent is missing, so the weights grow with the distance from the centre.",
        {"gaussian": lambda away, window: 1 / _gaussian(away, window)},
    ),
    "exponent_alone": (
        "The exponential is missing: you multiply by the exponent of the Gaussian. Take exp of it first.",
        {"gaussian": lambda away, window: -(away**2) / (2 * (window / 2) ** 2)},
    ),
    "density": (
        "You multiply by the density of a normal distribution, which has a factor 1/(σ√(2π)) in front. Here there is none: the Gaussian is 1 at the centre.",
        {"gaussian": lambda away, window: _gaussian(away, window) / (window / 2 * (2 * pi) ** 0.5)},
    ),
    "normalised_again": (
        "Your weights sum to 1 in each row where some place is in reach: either they are made to sum to 1 again after the Gaussian, or the exponent of the Gaussian is added to the scores, inside the softmax. Multiply the softmax of the scores by the Gaussian, and leave the products as they are; what the Gaussian takes away is gone.",
        {"mix": lambda shares, gaussian, near: _normalised(shares * gaussian)},
    ),
    "no_gaussian": (
        "The Gaussian is missing: within the window the distance has no effect. Multiply the softmax by it.",
        {"mix": lambda shares, gaussian, near: shares},
    ),
    "no_softmax": (
        "The softmax is missing: you multiply the scores themselves by the Gaussian.",
        {"softmax": lambda scores, near: scores.masked_fill(~near, 0.0)},
    ),
    "scores_unused": (
        "The scores have no effect: this is the Gaussian alone, within the window. Multiply it by the softmax of the scores.",
        {"softmax": lambda scores, near: near.to(scores.dtype)},
    ),
    "equal_shares": (
        "The scores have no effect: each place in reach gets the same share before the Gaussian. Take the softmax of the scores.",
        {"softmax": lambda scores, near: _softmax(scores.detach() * 0, near)},
    ),
    "gaussian_before_softmax": (
        "You multiply the scores by the Gaussian and take the softmax afterwards. Take the softmax of the scores first, and multiply its weights by the Gaussian.",
        {"softmax": lambda scores, near: scores.masked_fill(~near, 0.0), "mix": lambda scores, gaussian, near: _softmax(scores * gaussian, near)},
    ),
    "gaussian_added_inside": (
        "You add the Gaussian to the scores and take the softmax afterwards. Take the softmax of the scores first, and multiply its weights by the Gaussian.",
        {"softmax": lambda scores, near: scores.masked_fill(~near, 0.0), "mix": lambda scores, gaussian, near: _softmax(scores + gaussian, near)},
    ),
    "gaussian_added": (
        "You add the Gaussian to the weights of the softmax. Multiply the two.",
        {"mix": lambda shares, gaussian, near: (shares + gaussian) * near},
    ),
    "counted_from_one": (
        "Your places are counted from 1. The first place is place 0.",
        {"distance": lambda scores, centre: _distance(scores, centre) + 1},
    ),
    "one_place_less": (
        "Your places begin at -1, or the centre lies one place too far to the right. The first place is place 0, and the centre is used as it is given.",
        {"distance": lambda scores, centre: _distance(scores, centre) - 1},
    ),
    "centre_rounded": (
        "You round the centre to a whole place. Then no gradient reaches it, and the Gaussian stands in the wrong place: use it as it is given.",
        {"distance": _elsewhere(torch.round)},
    ),
    "centre_cut_off": (
        "You cut off what stands behind the point of the centre, as `int` and `long` do. Then no gradient reaches it, and the Gaussian stands in the wrong place: use it as it is given.",
        {"distance": _elsewhere(torch.floor)},
    ),
    "first_centre_for_all": (
        "You use the first row's centre for all rows. Each row has its own.",
        {"distance": _elsewhere(lambda centre: centre[:1].expand_as(centre))},
    ),
    "centre_lined_up_with_places": (
        "The centre has no axis for the places, so place i meets the centre of row i, which runs only where B = S or B = 1. Give it an axis, B×1.",
        {"distance": lambda scores, centre: (torch.arange(scores.shape[1]) - centre).expand_as(scores)},
    ),
    "centre_unused": (
        "The centre has no effect: you take the distances from place 0. Take them from the centre.",
        {"distance": _elsewhere(lambda centre: centre * 0)},
    ),
    "only_to_the_left": (
        "Your window reaches to the left of the centre alone. It reaches as far to the right: look at the distance without its sign.",
        {"distance": lambda scores, centre: torch.where(_distance(scores, centre) <= 0, _distance(scores, centre), 1e6)},
    ),
    "no_window": (
        "The window does not cut anything off: every real place takes part in the softmax. Only those at most `window` from the centre should.",
        {"near": lambda far, window, mask: mask},
    ),
    "window_halved": (
        "Your window reaches only half as far as it should: places up to `window` from the centre are in reach, on both sides. It is σ that is half of it.",
        {"near": lambda far, window, mask: mask & (far <= window / 2)},
    ),
    "window_turned_round": (
        "The window is turned round: you keep the places that are out of reach, and hide those in reach.",
        {"near": lambda far, window, mask: mask & (far > window)},
    ),
    "mask_unused": (
        "The mask has no effect: padding in the window gets weight like a word.",
        {"near": lambda far, window, mask: far <= window},
    ),
    "mask_inverted": (
        'The mask is the wrong way round: True means "is real", and those are the places you hide.',
        {"near": lambda far, window, mask: ~mask & (far <= window)},
    ),
    "either_is_enough": (
        "You keep a place that is real or in reach. It has to be both: `&` in place of `|`.",
        {"near": lambda far, window, mask: mask | (far <= window)},
    ),
    "masked_with_zeros": (
        "Scores out of reach become 0 or nearly 0 (-1e-9 is a tiny number, not a very negative one). exp(0) = 1 is a share like any other. Use -inf.",
        {"softmax": lambda scores, near: scores.masked_fill(~near, 0.0).softmax(-1)},
    ),
    "masked_with_zeros_and_after": (
        "Scores out of reach become 0 before the softmax, and their weights become 0 after it. exp(0) = 1 is a share like any other, and it is missing then from the places in reach. Use -inf before the softmax.",
        {"softmax": lambda scores, near: scores.masked_fill(~near, 0.0).softmax(-1) * near},
    ),
    "over_the_batch": (
        "Your softmax runs over the batch, so rows compete with one another. Each row spreads its weight over its own places, the last axis.",
        {"softmax": lambda scores, near: torch.nan_to_num(scores.masked_fill(~near, -torch.inf).softmax(0)).masked_fill(~near, 0.0)},
    ),
    "empty_row_nan": (
        f"Where no place is in reach, the softmax of nothing but -inf is 0/0, which is NaN. {EMPTY}",
        {"softmax": lambda scores, near: scores.masked_fill(~near, -torch.inf).softmax(-1)},
    ),
    "empty_row_uniform": (
        f"Where no place is in reach, a very negative but finite number makes all scores equal, and places out of reach share the weight. {EMPTY}",
        {"softmax": lambda scores, near: scores.masked_fill(~near, -1e9).softmax(-1)},
    ),
    "fill_undercut": (
        "Scores out of reach become a finite number, such as -1000. That is not -inf: the scores in reach can be lower, and then places out of reach take the weight. Only -inf lies below every score.",
        {"softmax": lambda scores, near: scores.masked_fill(~near, -1000.0).softmax(-1) * near},
    ),
    "garbage_times_zero": (
        "What stands at a False place of the mask may be NaN or infinite, and NaN times 0, or NaN minus infinity, is NaN. Put -inf in place of such scores with masked_fill or torch.where, which do not look at what was there.",
        {"softmax": lambda scores, near: (scores + torch.zeros_like(scores).masked_fill(~near, -torch.inf)).softmax(-1).masked_fill(~near, 0.0)},
    ),
    "overflow": (
        "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.softmax takes scores of any size; by hand, subtract the largest score in reach first.",
        {"softmax": lambda scores, near: _normalised(torch.where(near, scores, 0.0).exp() * near)},
    ),
}  # fmt: skip
for name, (sentence, parts) in PARTS.items():

    def mistaken(scores, centre, window, mask, parts=parts):
        return _weights(scores, centre, window, mask, **parts)

    task.mistake(sentence, name)(mistaken)


@task.mistake(
    "The softmax runs over all real places, and the window is cut out of its result. Then places out of reach have taken their share away: only those in reach should take part in the softmax."
)
def window_after_softmax(scores, centre, window, mask):
    near = _near(scores, centre, window, mask)
    return _softmax(scores, mask) * _gaussian(_distance(scores, centre), window) * near


@task.mistake(
    "Window and Gaussian come first, around a softmax over everything, padding too. Only the real places in reach should take part in the softmax."
)
def everything_after_softmax(scores, centre, window, mask):
    near = _near(scores, centre, window, mask)
    return scores.softmax(-1) * _gaussian(_distance(scores, centre), window) * near


def _window_around(shift):
    def weights(scores, centre, window, mask):
        near = _near(scores, shift(centre), window, mask)
        return _softmax(scores, near) * _gaussian(_distance(scores, centre), window)

    return weights


@task.mistake(
    "Your window lies around the rounded centre. It lies around the centre as it is given: compare the distances that the Gaussian uses with the window."
)
def window_around_the_rounded(*args):
    return _window_around(torch.round)(*args)


@task.mistake(
    "Your window lies around the centre without what stands behind its point. It lies around the centre as it is given: compare the distances that the Gaussian uses with the window."
)
def window_around_the_cut_off(*args):
    return _window_around(torch.floor)(*args)


@task.mistake(
    "The weights are right, but no gradient reaches the centre. It can only be learned through the Gaussian: use the tensor itself there, without `.detach()`, `.item()` or torch.tensor(…)."
)
def centre_cut(scores, centre, window, mask):
    return _weights(scores, centre.detach(), window, mask)
