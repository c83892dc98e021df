"""Task 11.sinusoidal_positions: a vector of sines and cosines for each position (Vaswani et al. 2017, section 3.5)."""

from math import cos, pi, sin
from operator import truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_11 import _angles
from course_utils.tasks.lesson_11._angles import BASE, frequencies
from course_utils.tasks.shares import EDGE

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


def _interleaved(even, odd):
    return torch.stack([even, odd], -1).flatten(-2)


@task.steps
def _(length, width):
    exponents = yield "the exponents 2i/D", truediv, torch.arange(0, width, 2).double(), width
    slowness = yield "10,000 to the power of 2i/D", pow, torch.tensor(float(BASE), dtype=torch.float64), exponents
    places = torch.arange(length).double()[:, None]
    angles = yield "the angles", truediv, places, slowness
    sines = yield "the sines", torch.sin, angles
    cosines = yield "the cosines", torch.cos, angles
    table = yield "sines and cosines, interleaved", _interleaved, sines, cosines
    return table


def _angles_of(length, width, of=frequencies, first=0):
    return (first + torch.arange(length).double())[:, None] * of(width)  # length D/2


def _table(angles, even=torch.sin, odd=torch.cos):
    return _interleaved(even(angles), odd(angles)).float()


for _name, (_of, _sentence) in _angles.WRONG.items():

    def _mistaken(length, width, of=_of):
        return _table(_angles_of(length, width, of))

    task.mistake(_sentence, _name)(_mistaken)


@task.mistake(
    "All sines stand in the left half and all cosines in the right one. Many libraries arrange them so, but here they alternate, as in the paper: sines in the columns 0, 2, 4, …, cosines in the columns 1, 3, 5, …."
)
def in_halves(length, width):
    angles = _angles_of(length, width)
    return torch.cat([angles.sin(), angles.cos()], 1).float()


@task.mistake(
    "All cosines stand in the left half and all sines in the right one. Here they alternate, and the sine comes first: sines in the columns 0, 2, 4, …, cosines in the columns 1, 3, 5, …."
)
def cosines_in_the_first_half(length, width):
    angles = _angles_of(length, width)
    return torch.cat([angles.cos(), angles.sin()], 1).float()


@task.mistake(
    "Sines and cosines are exchanged: sines belong in the columns 0, 2, 4, …, cosines in the columns 1, 3, 5, …."
)
def sine_and_cosine_exchanged(length, width):
    return _table(_angles_of(length, width), torch.cos, torch.sin)


@task.mistake("Your positions are counted from 1. Count them from 0: the first row holds the sines and cosines of 0.")
def positions_from_1(length, width):
    return _table(_angles_of(length, width, first=1))


@task.mistake(
    "Each of your columns has a frequency of its own: the column c has 10000^(−c/D). The two columns of a pair share one angle, so the cosine of a pair uses the exponent of its sine."
)
def each_column_its_own(length, width):
    angles = torch.arange(length).double()[:, None] / BASE ** (torch.arange(width).double() / width)
    return _interleaved(angles[:, 0::2].sin(), angles[:, 1::2].cos()).float()


@task.mistake(
    "Each of your columns has a frequency of its own: the column c has 10000^(−2c/D). In the formula i counts pairs and not columns. Both columns of pair i share one angle."
)
def each_column_its_own_doubled(length, width):
    angles = torch.arange(length).double()[:, None] / BASE ** (2 * torch.arange(width).double() / width)
    return _interleaved(angles[:, 0::2].sin(), angles[:, 1::2].cos()).float()


@task.mistake(
    "Your frequencies grow from pair to pair, since they are multiplied where they should be divided. The position is divided by 10000^(2i/D), so that the angle of the first pair grows fastest."
)
def multiplied(length, width):
    return _table(torch.arange(length)[:, None] * BASE ** (torch.arange(0, width, 2) / width))


@task.mistake("All of your columns are sines. The columns 1, 3, 5, … hold the cosines of the same angles.")
def sines_alone(length, width):
    return _table(_angles_of(length, width), odd=torch.sin)


@task.mistake("All of your columns are cosines. The columns 0, 2, 4, … hold the sines of the same angles.")
def cosines_alone(length, width):
    return _table(_angles_of(length, width), even=torch.cos)


@task.mistake(
    "You return the angles themselves. Take their sines in one column of each pair and their cosines in the other."
)
def no_sine_and_no_cosine(length, width):
    return _table(_angles_of(length, width), torch.clone, torch.clone)


@task.mistake(
    "Your angles are 2π times as large as they should be, as if a hand went all the way round where its angle should grow by 1. In the formula stands the angle itself: position divided by 10000^(2i/D), without 2π."
)
def times_two_pi(length, width):
    return _table(2 * pi * _angles_of(length, width))


@task.mistake("Your table is transposed: positions are rows and features are columns, so its shape is length×width.")
def transposed(length, width):
    return _table(_angles_of(length, width)).T


@task.mistake(
    "The numbers are right and stand in wrong rows: sines and cosines were put one after the other along another axis than the last, and then the table was cut into rows. Put each sine beside its cosine first: stack them along a new last axis."
)
def cut_into_rows(length, width):
    angles = _angles_of(length, width)
    return torch.stack([angles.sin(), angles.cos()]).reshape(length, width).float()


@task.mistake(
    "Your positions are divided by the length, so that they end below 1. A position's vector would then be another one in a longer sentence. The angles use the position itself: 0, 1, 2, …."
)
def divided_by_length(length, width):
    return _table(_angles_of(length, width) / length)


@task.mistake(
    "Each pair still stands on an axis of its own: you return length×D/2×2. Make one axis of the last two, so that each sine is followed by its cosine."
)
def pairs_left_apart(length, width):
    angles = _angles_of(length, width)
    return torch.stack([angles.sin(), angles.cos()], -1).float()


@task.mistake(
    "You return two rows, one of sines and one of cosines. Each position has a row of its own, in which sines and cosines alternate: length×width."
)
def two_rows(length, width):
    angles = _angles_of(length, width)
    return torch.stack([angles.sin(), angles.cos()]).flatten(1).float()


@task.mistake(
    "Your table has twice as many columns as asked for: a sine and a cosine for each column. A pair of columns shares one angle, so there are width / 2 angles for each position."
)
def two_for_each_column(length, width):
    return _table(torch.arange(length).double()[:, None] / BASE ** (torch.arange(width).double() / width))


def _as_shown(length, width, first=0, own=False, halves=False):
    """The version in the prompt, with some of its three faults."""
    column = torch.arange(width)
    exponent = column if own else column - column % 2
    angles = (first + torch.arange(length).double())[:, None] / BASE ** (exponent / width)
    even, odd = angles[:, 0::2].sin(), angles[:, 1::2].cos()
    return (torch.cat([even, odd], 1) if halves else _interleaved(even, odd)).float()


FIRST = "Count the positions from 0, so that the first row is 0, 1, 0, 1 and so on."
OWN = "Both columns of a pair share one angle: the cosine uses the exponent of its sine."
HALVES = "Let sines and cosines alternate, in place of all sines before all cosines."
for _name, _faults, _left in (
    (
        "as_shown",
        {"first": 1, "own": True, "halves": True},
        ("This is the version shown, with its three faults.", FIRST, OWN, HALVES),
    ),
    ("first_and_own_left", {"first": 1, "own": True}, ("Two of the three faults are left.", FIRST, OWN)),
    ("first_and_halves_left", {"first": 1, "halves": True}, ("Two of the three faults are left.", FIRST, HALVES)),
    ("own_and_halves_left", {"own": True, "halves": True}, ("Two of the three faults are left.", OWN, HALVES)),
):

    def _half_repaired(length, width, faults=_faults):
        return _as_shown(length, width, **faults)

    task.mistake(" ".join(_left), _name)(_half_repaired)
