"""Task 08.local_weights: weights in a window around a centre, falling off like a Gaussian."""

import torch

from course_lessons.shared.padding import words_first
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import no_weight_is_negative
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "weights in a window around a centre",
    arguments=("scores B×S", "centre B", "window", "mask B×S"),
    result="weights B×S",
    difficulty=3,
    importance=4,
    minutes=20,
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
    if (far > 1e-6).any():
        return f"For the input “{case.name}” a position further from the centre than the window, {window}, has the weight {far.max():.4g}; it should be 0."
    return None


@task.property
def never_more_than_the_softmax(case, value):
    """The Gaussian is 1 at most."""
    most = value.sum(1).max()
    if most > 1 + 1e-4:
        return f"The weights of a row should sum to at most 1, since the Gaussian can only reduce them; for the input “{case.name}” the weights of one row sum to {most:.4g}."
    return None


@task.property
def factor_is_the_gaussian(case, value):
    """The weights go with the distance: with each position's share of the softmax taken out, the Gaussian is left."""
    scores, centre, window, mask = (
        arg.double() if torch.is_tensor(arg) and arg.is_floating_point() else arg for arg in case.args
    )
    near = _near(scores, centre, window, mask)
    shares = scores.masked_fill(~near, -torch.inf).softmax(-1).masked_fill(~near, 0.0)
    row, place = divmod(int(torch.where(near, shares, 0.0).argmax()), mask.shape[1])
    factor, distance = value[row, place].item() / shares[row, place].item(), abs(place - centre[row].item())
    right = 2.718281828459045 ** (-2 * (distance / window) ** 2)
    if abs(factor - right) > 1e-3:
        return f"For the input “{case.name}” position {place} of row {row} is {distance:.4g} away from the centre, and its share of the softmax over the window is {shares[row, place]:.4g}. The Gaussian there is {right:.4g}, and your weight is {factor:.4g} times the share."
    return None


@task.property
def nothing_in_reach_gives_zeros(case, value):
    """A sum over no position is 0."""
    empty = ~_near(*case.args).any(1) & case.args[0].isfinite().all()
    if value[empty].isnan().any():
        return f"For the input “{case.name}” no position of row {int(empty.int().argmax())} is within reach, and 0/0 is NaN. If no position is within reach, return zeros."
    return None


def _centre(draw, B, S):
    """Numbers within a row of S positions: eighths, none a multiple of a half, so that no distance is exactly a window."""
    return draw.whole(0, 2 * S - 1, B) / 2 + torch.where(draw.whole(0, 2, B) > 0, 0.125, -0.125)


def _inputs(draw, B, S, window, mask):
    return draw.numbers(B, S), _centre(draw, B, S), window, mask


@task.cases
def _(draw):
    for size in sizes(B=3, S=7):
        B, S = size.B, size.S + 2
        window, every = (2, 1, 1.5, 2.3)[int(draw.whole(0, 4, 1))], torch.ones(B, S, dtype=torch.bool)
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
