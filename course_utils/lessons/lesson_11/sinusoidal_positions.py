"""Task 11.sinusoidal_positions: a vector of sines and cosines for each position (Vaswani et al. 2017, section 3.5)."""

from math import cos, pi, sin
from operator import mul, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.lessons.lesson_11._angles import BASE, frequencies, frequency_mistakes, interleaved
from course_utils.lessons.shared.shares import EDGE

task = Task(
    "11.sinusoidal_positions",
    "a vector of sines and cosines for each position",
    arguments=("length", "width"),
    result="positions length×width",
    difficulty=2,
    importance=5,
    minutes=15,
    hints=(
        "Take a tiny table, 3 positions of width 4, and hold what the version gives against each promise in turn. There is one fault for each of them: where counting begins, which exponent a column uses, and where the columns go. Each pair of columns is a clock of its own: its hand turns by the same angle at each step, and the two columns hold the sine and the cosine of where it points. The first hand is the fastest, by 1 at each step. Compute the angles first, one for each position and each pair; everything else follows from them.",
        (
            "Take two positions of width 4. There are two pairs, i = 0 and i = 1. Their frequencies are 1 / 10000⁰ = 1 and 1 / 10000^(2/4) = 0.01. Position 0 has the angles 0 and 0, so its vector is 0, 1, 0, 1. "
            "Position 1 has the angles 1 and 0.01. The sine and the cosine of 1 are 0.8415 and 0.5403, those of 0.01 are 0.0100 and 0.99995, and its vector holds them in this order."
        ),
        "even = 0, 2, 4, … below width; angles = positions as length×1, divided by 10000 to the power of (even / width), length×D/2; put the sines into the columns 0, 2, 4, … and the cosines into the columns 1, 3, 5, ….",
    ),
    partial=EDGE,
)


@task.property
def neighbours_are_sine_and_cosine(case, value):
    """sin² + cos² = 1 for each pair of columns."""
    squares = value.double().square()
    off = (squares[:, 0::2] + squares[:, 1::2] - 1).abs() > 1e-3
    if not off.any():
        return None
    p, i = off.nonzero()[0].tolist()
    return f"The columns {2 * i} and {2 * i + 1} should hold the sine and the cosine of the same angle, whose squares add up to 1. At position {p} yours add up to {squares[p, 2 * i] + squares[p, 2 * i + 1]:.4g}."


@task.property
def position_0_has_the_angle_0(case, value):
    """0, 1, 0, 1, …"""
    wanted = torch.tensor([0.0, 1.0]).repeat(value.shape[1] // 2)
    if torch.allclose(value[0].float(), wanted, atol=1e-3):
        return None
    return f"At position 0 all angles are 0, so the vector is 0, 1, 0, 1 and so on. Yours begins with {', '.join(f'{number:.4g}' for number in value[0, :4].tolist())}."


@task.property
def angles_of_position_1_are_the_frequencies(case, value):
    """1, and then less and less."""
    if len(value) < 2:
        return None
    sine, cosine = value[1, 0::2].double(), value[1, 1::2].double()
    right, turned = frequencies(value.shape[1]), torch.atan2(sine, cosine)
    off = (torch.polar(torch.ones_like(right), right) - torch.complex(cosine, sine)).abs() > 1e-3
    if not off.any() or ((sine.square() + cosine.square() - 1).abs() > 1e-3).any():
        return None
    i = int(off.nonzero()[0])
    return f"At position 1 the angle of a pair is its frequency, and for pair {i} that is 10000 to the power of −{2 * i}/{value.shape[1]} = {right[i]:.4g}. Yours are the sine and the cosine of {turned[i]:.4g} (or of an angle that is full turns away from it)."


@task.cases
def _(draw):
    named = lambda length, width: f"{count(length, 'position')} of width {width}"  # noqa: E731
    for lengths, width in (((3, 5), 2), ((2, 3), 4), ((5, 7), 6)):
        length = lengths[int(draw.whole(0, 2))]
        yield Case(named(length, width), (length, width))
    for widths, low in (((10, 14), 7), ((22, 26), 11), ((34, 38), 39)):
        width, length = widths[int(draw.whole(0, 2))], low + 2 * int(draw.whole(0, 8))
        yield Case(named(length, width), (length, width))
    yield Case("a single position", (1, 6), edge=True)
    yield Case("as many positions as columns", (6, 6), edge=True)
    yield Case("300 positions", (300, 4), edge=True)
    yield Case("width 512", (3, 512), edge=True)


@task.oracle
def _(length, width):
    rows = []
    for p in range(length):
        angles = [p / BASE ** (2 * i / width) for i in range(width // 2)]
        rows.append([function(angle) for angle in angles for function in (sin, cos)])
    return torch.tensor(rows, dtype=torch.float64)


@task.steps
def _(length, width):
    positions = yield "the positions", lambda length: torch.arange(length).double()[:, None], length
    exponents = yield "the exponents 2i/D", truediv, torch.arange(0, width, 2).double(), width
    slowness = yield "10,000 to the power of 2i/D", pow, torch.tensor(float(BASE), dtype=torch.float64), exponents
    of_pairs = yield "the frequencies", torch.reciprocal, slowness
    angles = yield "the angles", mul, positions, of_pairs
    sines = yield "the sines", torch.sin, angles
    cosines = yield "the cosines", torch.cos, angles
    table = yield (
        "sines and cosines, interleaved",
        lambda sines, cosines: interleaved(sines, cosines).float(),
        sines,
        cosines,
    )
    return table


frequency_mistakes(task)


# Positions and angles

POSITIONS, ANGLES, SINES, COSINES = "the positions", "the angles", "the sines", "the cosines"
TABLE = "sines and cosines, interleaved"
COUNTED_FROM_1 = {POSITIONS: lambda length: torch.arange(1.0, length + 1).double()[:, None]}
task.changed_each(
    ("positions_from_1", "Your positions are counted from 1. Count them from 0: the first row holds the sines and cosines of 0.", COUNTED_FROM_1),
    (
        "multiplied",
        "Your frequencies grow from pair to pair, since they are multiplied where they should be divided. The position is divided by 10000^(2i/D), so that the angle of the first pair grows fastest.",
        {ANGLES: lambda *_, length, width: torch.arange(length)[:, None] * BASE ** (torch.arange(0, width, 2) / width)},  # in float32
    ),
    (
        "times_two_pi",
        "Your angles are 2π times as large as they should be, as if a full turn were 1. In the formula the angle is position divided by 10000^(2i/D), without 2π.",
        {ANGLES: lambda positions, frequencies: 2 * pi * positions * frequencies},
    ),
    ("sine_and_cosine_exchanged", "Sines and cosines are exchanged: sines belong in the columns 0, 2, 4, …, cosines in the columns 1, 3, 5, ….", {SINES: torch.cos, COSINES: torch.sin}),
)  # fmt: skip


# The arrangement of columns


def _halves(sines, cosines):
    return torch.cat([sines, cosines], 1).float()


for name, sentence, arranged in (
    (
        "in_halves",
        "All sines are in the left half and all cosines in the right one. Many libraries arrange them so, but here they alternate, as in the paper: sines in the columns 0, 2, 4, …, cosines in the columns 1, 3, 5, ….",
        _halves,
    ),
    (
        "cosines_in_the_first_half",
        "All cosines are in the left half and all sines in the right one. Here they alternate, and the sine comes first: sines in the columns 0, 2, 4, …, cosines in the columns 1, 3, 5, ….",
        lambda sines, cosines: _halves(cosines, sines),
    ),
    (
        "cut_into_rows",
        "The numbers are right, but in wrong rows: sines and cosines were put one after the other along another axis than the last, and then the table was cut into rows. Put each sine beside its cosine first: stack them along a new last axis.",
        lambda sines, cosines: torch.stack([sines, cosines]).reshape(len(sines), -1).float(),
    ),
    (
        "pairs_left_apart",
        "Each pair still has an axis of its own: you return length×D/2×2. Make one axis of the last two, so that each sine is followed by its cosine.",
        lambda sines, cosines: torch.stack([sines, cosines], -1).float(),
    ),
):
    task.changed(name, sentence, {TABLE: arranged})


# Each column for itself, as in the version of the prompt

OWN_ANGLES = {  # for each column, sine or cosine is taken of the column's own angles: 10000^(-c/D) for the column c
    "the frequencies": lambda slowness, *, width: BASE ** (-torch.arange(width).double() / width),
    SINES: lambda angles: angles[:, 0::2].sin(),
    COSINES: lambda angles: angles[:, 1::2].cos(),
}
IN_HALVES = {TABLE: _halves}
FIRST = "Count the positions from 0, so that the first row is 0, 1, 0, 1 and so on."
OWN = "Both columns of a pair share one angle: the cosine uses the exponent of its sine."
HALVES = "Let sines and cosines alternate, in place of all sines before all cosines."
task.changed_each(
    ("as_shown", f"This is the version shown, with its three faults. {FIRST} {OWN} {HALVES}", COUNTED_FROM_1 | OWN_ANGLES | IN_HALVES),
    ("first_and_own_left", f"Two of the three faults are left. {FIRST} {OWN}", COUNTED_FROM_1 | OWN_ANGLES),
    ("first_and_halves_left", f"Two of the three faults are left. {FIRST} {HALVES}", COUNTED_FROM_1 | IN_HALVES),
    ("own_and_halves_left", f"Two of the three faults are left. {OWN} {HALVES}", OWN_ANGLES | IN_HALVES),
    ("each_column_its_own", "Each of your columns has a frequency of its own: the column c has 10000^(−c/D). The two columns of a pair share one angle, so the cosine of a pair uses the exponent of its sine.", OWN_ANGLES),
)  # fmt: skip
task.changed(
    "two_for_each_column",
    "Your table has twice as many columns as it should have: a sine and a cosine for each column. A pair of columns shares one angle, so there are width / 2 angles for each position.",
    {"the frequencies": OWN_ANGLES["the frequencies"]},
)
