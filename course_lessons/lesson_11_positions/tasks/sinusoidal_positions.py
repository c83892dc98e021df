"""Task 11.sinusoidal_positions: a vector of sines and cosines for each time, whose hands have periods from the shortest to the longest."""

from math import cos, pi, sin
from operator import mul, truediv

import torch

from course_lessons.lesson_11_positions.tasks._angles import BASE, interleaved
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "11.sinusoidal_positions",
    "sinusoidal positions for times, from the shortest period to the longest",
    arguments=("times N", "width", "shortest", "longest"),
    result="positions N×width",
    difficulty=3,
    importance=4,
    minutes=20,
    gradient_not_asked=("times",),
    hints=(
        "You have three things to decide. By what factor does the period grow from one hand to the next, if width / 2 hands lead from the shortest to the longest? There is one step fewer than there are hands. By what angle has a hand turned after a given time, if one period is a full turn and a full turn is 2π radians? And in what order are the sines and cosines? Compute the periods first, one for each hand, then an angle for each time and each hand; everything else follows from them.",
        (
            "Take a width of 6, so there are three hands, with periods from 12 to 48. Two steps lead from 12 to 48, and each multiplies by the same number, √(48 / 12) = 2, so the periods are 12, 24 and 48. "
            "At time 1, the first hand has made 1/12 of a turn, which is 2π / 12 = 0.5236 radians, the second 0.2618, and the third 0.1309. The vector is 0.5, 0.8660, 0.2588, 0.9659, 0.1305, 0.9914."
        ),
        "i = 0, 1, … below width / 2; periods = shortest times (longest / shortest) to the power of i / (width / 2 − 1); angles = 2π times the times as N×1, divided by the periods: N×D/2; put the sines in columns 0, 2, 4, … and the cosines in columns 1, 3, 5, ….",
    ),
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
    yield Case("a single time", (times(1), 6, 5.0, 45.0), edge=True)
    yield Case("times 0, 0 and 2", (torch.tensor([0.0, 0.0, 2.0]), 6, 5.0, 80.0), edge=True)
    yield Case("two hands", (times(3), 4, 6.0, 31.0), edge=True)
    yield Case("as many times as columns", (times(8), 8, 5.0, 135.0), edge=True)
    yield Case("width 130", (times(3), 130, 7.0, 700.0), edge=True)


@task.oracle
def _(times, width, shortest, longest):
    rows, factor = [], (longest / shortest) ** (1 / (width // 2 - 1))
    for time in times.tolist():
        turns = [time / (shortest * factor**i) for i in range(width // 2)]
        rows.append([function(2 * pi * each) for each in turns for function in (sin, cos)])
    return torch.tensor(rows, dtype=torch.float64)


@task.steps
def _(times, width, shortest, longest):
    hands = yield "the hands", lambda width: torch.arange(width // 2).double(), width
    exponents = yield "the exponents", truediv, hands, width // 2 - 1
    longer = yield "how many times as long", pow, torch.tensor(longest / shortest).double(), exponents
    periods = yield "the periods", mul, shortest, longer
    turns = yield "the turns", lambda times, periods: times.double()[:, None] / periods, times, periods
    angles = yield "the angles", mul, turns, 2 * pi
    sines = yield "the sines", torch.sin, angles
    cosines = yield "the cosines", torch.cos, angles
    table = yield (
        "sines and cosines, interleaved",
        lambda sines, cosines: interleaved(sines, cosines).float(),
        sines,
        cosines,
    )
    return table


# Periods, turns and angles

EXPONENTS, PERIODS, TURNS, ANGLES = "the exponents", "the periods", "the turns", "the angles"
SINES, COSINES, TABLE = "the sines", "the cosines", "sines and cosines, interleaved"
task.changed_each(
    (
        "longest_not_reached",
        "Your first hand is correct, but the last one is too fast: its period is not `longest`. From the first of width / 2 hands to the last there are width / 2 − 1 steps, so divide i by that.",
        {EXPONENTS: lambda hands, steps: hands / (steps + 1)},
    ),
    (
        "hands_counted_from_1",
        "Your first hand is too slow: its period is not `shortest`, but one step longer. Count the hands from 0; from the first to the last there are width / 2 − 1 steps.",
        {EXPONENTS: lambda hands, steps: (hands + 1) / (steps + 1)},
    ),
    (
        "columns_counted",
        "Your last hand is too fast: the exponent divides 2i by width − 1, as if each column had its own hand. Two columns share one hand, so the exponent is i / (width / 2 − 1).",
        {EXPONENTS: lambda hands, steps: 2 * hands / (2 * steps + 1)},
    ),
    (
        "periods_evenly_spaced",
        "Both ends are correct, but between them your periods grow by the same amount from hand to hand. They should grow by the same factor: 12, 24, 48 instead of 12, 30, 48.",
        {PERIODS: lambda shortest, longer: shortest * torch.linspace(1, longer[-1].item(), len(longer)).double()},
    ),
    (
        "speeds_evenly_spaced",
        "Both ends are correct, but between them your speeds, 1 / period, fall by the same amount from hand to hand. The periods should grow by the same factor.",
        {PERIODS: lambda shortest, longer: shortest / torch.linspace(1, 1 / longer[-1].item(), len(longer)).double()},
    ),
    ("slowest_first", "Your hands are in reverse order: the first one is the slowest. The first hand should have the period `shortest`, and the last one `longest`.", {PERIODS: lambda *of, right: right(*of).flip(0)}),
    ("without_two_pi", "Your angles are 2π times too small: a hand has turned by time / period of a full turn, and a full turn is 2π radians.", {ANGLES: lambda turns, full: turns}),
    ("half_turns", "Your angles are half as large as they should be: a full turn is 2π radians, and π is half of it.", {ANGLES: lambda turns, full: turns * pi}),
    ("degrees", "Your full turn is 360, as in degrees. `torch.sin` and `torch.cos` take radians, so it is 2π.", {ANGLES: lambda turns, full: turns * 360}),
    ("multiplied", "You multiply the times by the periods instead of dividing: a hand with a longer period turns more slowly.", {TURNS: lambda times, periods: times.double()[:, None] * periods}),
    ("rows_in_place_of_times", "Your rows are for the times 0, 1, 2 and so on. Use the times that you are given: they need not be whole numbers or in order.", {"times": lambda times: torch.arange(len(times)).to(times)}),
    (
        "clocks_of_the_lesson",
        "These are the lesson's clocks, with base 10,000. Here the periods are given: they range from `shortest` to `longest`, and a full turn is 2π radians.",
        {ANGLES: lambda *_, times, width: times.double()[:, None] / BASE ** (torch.arange(0, width, 2).double() / width)},
    ),
    (
        "base_of_the_lesson",
        "The factor from hand to hand comes from base 10,000. Here the last hand has the period `longest`: the base is longest / shortest, and the exponent is i / (width / 2 - 1).",
        {PERIODS: lambda *_, width, shortest: shortest * BASE ** (torch.arange(0, width, 2).double() / width)},
    ),
    ("sine_and_cosine_exchanged", "Sines and cosines are swapped: sines belong in columns 0, 2, 4, …, cosines in columns 1, 3, 5, ….", {SINES: torch.cos, COSINES: torch.sin}),
)  # fmt: skip


# The arrangement of columns


def _halves(sines, cosines):
    return torch.cat([sines, cosines], 1).float()


task.changed_each(
    ("in_halves", "All sines are in the left half and all cosines in the right one. Many libraries arrange them this way, but here they alternate: sines in columns 0, 2, 4, …, cosines in columns 1, 3, 5, ….", {TABLE: _halves}),
    ("cosines_in_the_first_half", "All cosines are in the left half and all sines in the right one. Here they alternate, and the sine comes first: sines in columns 0, 2, 4, …, cosines in columns 1, 3, 5, ….", {TABLE: lambda sines, cosines: _halves(cosines, sines)}),
    ("cut_into_rows", "The numbers are correct but in the wrong rows: sines and cosines were joined along an axis other than the last, and then the table was cut into rows. First put each sine beside its cosine: stack them along a new last axis.", {TABLE: lambda sines, cosines: torch.stack([sines, cosines]).reshape(len(sines), -1).float()}),
    ("pairs_left_apart", "Each pair still has its own axis: you return N×D/2×2. Merge the last two axes, so that each sine is followed by its cosine.", {TABLE: lambda sines, cosines: torch.stack([sines, cosines], -1).float()}),
)  # fmt: skip


def _for_each_column(*_, times, width, shortest, longest):
    """A hand for each column, from the shortest period to the longest."""
    exponents = torch.arange(width).double() / (width - 1)
    return 2 * pi * times.double()[:, None] / (shortest * (longest / shortest) ** exponents)


task.changed_each(
    (
        "each_column_its_own",
        "Each of your columns has its own hand. The two columns of a pair share one hand: the cosine and the sine have the same angle.",
        {ANGLES: _for_each_column, SINES: lambda angles: angles[:, 0::2].sin(), COSINES: lambda angles: angles[:, 1::2].cos()},
    ),
    (
        "two_for_each_column",
        "Your table has twice as many columns as it should have: a sine and a cosine for each column. Each pair of columns shares one hand, so there are width / 2 angles for each time.",
        {ANGLES: _for_each_column},
    ),
)  # fmt: skip
