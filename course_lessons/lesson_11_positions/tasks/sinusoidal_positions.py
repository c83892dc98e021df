"""Task 11.sinusoidal_positions: a vector of sines and cosines for each time, whose hands have periods from the shortest to the longest."""

from math import cos, pi, sin

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "sinusoidal positions for times, from the shortest period to the longest",
    arguments=("times N", "width", "shortest", "longest"),
    result="positions N×width",
    difficulty=3,
    importance=4,
    minutes=20,
    gradient_not_asked=("times",),
    partial=EDGE | SIDE_EFFECT,
)


@task.property
def neighbours_are_sine_and_cosine(case, value):
    """sin² + cos² = 1 for each pair of columns."""
    squares = value.double().square()
    off = (squares[:, 0::2] + squares[:, 1::2] - 1).abs() > 1e-3
    if not off.any():
        return None
    n, i = off.nonzero()[0].tolist()
    return f"Columns {2 * i} and {2 * i + 1} should hold the sine and the cosine of the same angle, whose squares add up to 1. In row {n} yours add up to {squares[n, 2 * i] + squares[n, 2 * i + 1]:.4g}."


def _hand(case, value, i, period, words):
    """Say where a hand is not where its period takes it."""
    angles = 2 * pi * case.args[0].double() / period
    off = (torch.stack([angles.sin(), angles.cos()], -1) - value[:, [2 * i, 2 * i + 1]].double()).abs().amax(1) > 1e-3
    if not off.any():
        return None
    n = int(off.nonzero()[0])
    time = case.args[0][n].item()
    return f"The {words} hand makes a full turn in {period:g}. At time {time:g}, it has made {time / period:.4g} turns, so sine and cosine are {angles[n].sin():.4g} and {angles[n].cos():.4g}. Yours are {value[n, 2 * i]:.4g} and {value[n, 2 * i + 1]:.4g}."


@task.property
def the_first_hand_has_the_shortest_period(case, value):
    """A full turn in `shortest`."""
    return _hand(case, value, 0, case.args[2], "first")


@task.property
def the_last_hand_has_the_longest_period(case, value):
    """A full turn in `longest`."""
    return _hand(case, value, case.args[1] // 2 - 1, case.args[3], "last")


@task.cases
def _(draw):
    def times(n):
        return draw.whole(1, 161, n).float() / 8

    def named(n, width, shortest, longest):
        return f"{count(n, 'time')}, width {width}, periods from {shortest:g} to {longest:g}"

    for n, width, low, factor in ((2, 6, 3, 4), (3, 8, 5, 27), (5, 6, 7, 9), (7, 10, 5, 64), (11, 14, 7, 300)):
        shortest = float(low + int(draw.whole(0, 3)))
        sizes = width, shortest, shortest * (factor + int(draw.whole(0, 3)))
        yield Case(named(n, *sizes), (times(n), *sizes))
    for n, shortest, longest in ((4, 2.5, 43.7), (5, 0.4, 8.3)):
        sizes = 8, shortest + int(draw.whole(0, 9)) / 100, longest + int(draw.whole(0, 9)) / 100
        yield Case(named(n, *sizes), (draw.whole(1, 500, n) / 77, *sizes))
    yield Case("a single time", (times(1), 6, 5.0, 45.0), edge=True)
    yield Case("times 0, 0 and 2", (torch.tensor([0.0, 0.0, 2.0]), 6, 5.0, 80.0), edge=True)
    yield Case("two hands", (times(3), 4, 6.0, 31.0), edge=True)
    yield Case("as many times as columns", (times(8), 8, 5.0, 135.0), edge=True)
    seconds = torch.tensor([86_400.0, 5_400.5, 0.25, 43_210.0])[draw.distinct(4, 0, 4)]
    yield Case("seconds of a day, periods from an hour to a week", (seconds, 6, 3_600.0, 604_800.0), edge=True)
    yield Case("times that are whole numbers (int64)", (draw.whole(1, 20, 4), 6, 5.0, 45.0), hazard=True)
    yield Case("width 130", (times(3), 130, 7.0, 700.0), edge=True)


@task.oracle
def _(times, width, shortest, longest):
    rows, factor = [], (longest / shortest) ** (1 / (width // 2 - 1))
    for time in times.tolist():
        turns = [time / (shortest * factor**i) for i in range(width // 2)]
        rows.append([function(2 * pi * each) for each in turns for function in (sin, cos)])
    return torch.tensor(rows, dtype=torch.float64)
