"""Task 11.shift_matrix: the matrix that takes each sinusoidal position to the one so many places further on."""

from math import cos, sin
from operator import mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.checks.way import left_out
from course_utils.lessons.lesson_11._angles import BASE, frequencies, frequency_mistakes, interleaved
from course_utils.lessons.shared.shares import EDGE

task = Task(
    "11.shift_matrix",
    "the matrix that shifts positions",
    arguments=("width", "offset"),
    result="matrix width×width",
    difficulty=3,
    importance=3,
    minutes=20,
    hints=(
        "Look at one pair of places alone. It holds the sine and the cosine of an angle, and a shift adds the same number to this angle wherever one starts: the pair is turned. So the matrix consists of small matrices of 2×2 along its diagonal, one for each pair, and zeros everywhere else. "
        "What stands in them follows from sin(a + b) = sin a cos b + cos a sin b and cos(a + b) = cos a cos b − sin a sin b.",
        (
            "Take width 2 and an offset of 1, so there is one pair, of frequency 1, and b = 1 with sin b = 0.8415 and cos b = 0.5403. Position 0 is (0, 1), and position 1 is (0.8415, 0.5403). The first row of the matrix makes the new sine: 0.5403 times the old sine and 0.8415 times the old cosine, 0.5403·0 + 0.8415·1 = 0.8415. "
            "The second row makes the new cosine: −0.8415 times the old sine and 0.5403 times the old cosine. The same matrix takes position 1 to (0.9093, −0.4161), which is position 2."
        ),
        "angles = offset divided by 10000 to the power of (2i / width), one for each pair i; M = zeros of width×width; for each pair: sine and cosine of its angle; rows 2i and 2i + 1, columns 2i and 2i + 1 get the 2×2 block of hint 2.",
    ),
    partial=EDGE,
)


def _positions(length, width):
    angles = torch.arange(length).double()[:, None] * frequencies(width)
    return interleaved(angles.sin(), angles.cos())


@task.property
def every_position_is_shifted(case, value):
    """M times a position is the position so many places on."""
    width, offset = case.args
    table = _positions(offset + 7, width)
    shifted = table[:7] @ value.double().T
    near = (shifted - table[offset:]).abs() < 1e-3
    right = near.all(1)
    if right.all():
        return None
    p = int((~right).nonzero()[0])
    place = int((~near[p]).nonzero()[0])
    also = " The same matrix has to do this for every position, and not for one alone." if right.any() else ""
    return f"M @ positions[{p}] should be positions[{p + offset}], and it is not: at place {place} your matrix gives {shifted[p, place]:.4g}, and the position has {table[p + offset, place]:.4g}.{also}"


@task.property
def pairs_stay_apart(case, value):
    """Zeros outside the blocks of 2×2."""
    pair = torch.arange(len(value)) // 2
    outside = (value.abs() > 1e-4) & (pair[:, None] != pair)
    if not outside.any():
        return None
    row, column = outside.nonzero()[0].tolist()
    return f"The number in row {row} and column {column} should be 0, since these places belong to different pairs: a pair is turned by itself. Yours is {value[row, column]:.4g}."


@task.cases
def _(draw):
    def offset(low, high):
        return int(draw.whole(low, high))

    for width, k in ((2, offset(2, 5)), (4, offset(1, 4)), (6, offset(3, 8)), (10, offset(5, 18))):
        yield Case(f"width {width}, offset {k}", (width, k))
    for widths in ((14, 22), (26, 34)):
        width, k = widths[offset(0, 2)], offset(7, 60)
        yield Case(f"width {width}, offset {k}", (width, k))
    yield Case("an offset of 0", (6, 0), edge=True)
    yield Case("an offset of 100", (10, 100), edge=True)
    yield Case("an offset as large as the width", (4, 4), edge=True)
    yield Case("width 128", (128, 11), edge=True)


@task.oracle
def _(width, offset):
    matrix = torch.zeros(width, width, dtype=torch.float64)
    for i in range(width // 2):
        angle = offset / BASE ** (2 * i / width)
        matrix[2 * i, 2 * i] = matrix[2 * i + 1, 2 * i + 1] = cos(angle)
        matrix[2 * i, 2 * i + 1] = sin(angle)
        matrix[2 * i + 1, 2 * i] = -sin(angle)
    return matrix


def _blocks(first, second):
    """[[a, b], [c, d]] for each pair, along the diagonal; the columns of `first` are a, b, those of `second` c, d."""
    return torch.block_diag(*torch.stack([first, second], -2)).float() if len(first) else torch.zeros(0, 0)


def _beside(left, right):
    return torch.stack([left, right], -1)


@task.steps
def _(width, offset):
    of_pairs = yield "the frequencies", frequencies, width
    angles = yield "the angles", mul, offset, of_pairs
    sines = yield "the sines", torch.sin, angles
    cosines = yield "the cosines", torch.cos, angles
    first = yield "the first rows of the blocks", _beside, cosines, sines
    minus = yield "the sines with a minus", torch.neg, sines
    second = yield "the second rows of the blocks", _beside, minus, cosines
    matrix = yield "the blocks along the diagonal", _blocks, first, second
    return matrix


frequency_mistakes(task)

ANGLES, SINES, COSINES, MINUS = "the angles", "the sines", "the cosines", "the sines with a minus"
FIRST, SECOND, MATRIX = "the first rows of the blocks", "the second rows of the blocks", "the blocks along the diagonal"
task.changed_each(
    ("no_minus", "A minus is missing: the new sine comes out right, the new cosine does not. cos(a + b) is cos a cos b − sin a sin b.", {MINUS: left_out}),
    (
        "second_row_negative",
        "The new sine comes out right, and the new cosine has the wrong sign. cos(a + b) is cos a cos b − sin a sin b, so the old cosine comes without a minus, and the old sine with one.",
        {SECOND: lambda minus, cosines: -_beside(minus, cosines)},
    ),
    ("cosines_alone", "Your blocks hold the cosines alone, on the diagonal. The new sine needs the old cosine as well, and the new cosine the old sine: sin(a + b) = sin a cos b + cos a sin b.", {SINES: torch.zeros_like}),
    (
        "sine_on_the_diagonal",
        "Sine and cosine of the shift are exchanged in your blocks. With an offset of 0 the matrix should change nothing, so the cosines, which are then 1, belong on the diagonal.",
        {SINES: torch.cos, COSINES: torch.sin},
    ),
    (
        "shifts_back",
        "Your matrix shifts back: it takes the position p + offset to p, and p to p − offset. It is the transposed one. The textbook's rotation, with its minus in the first row, turns pairs (cosine, sine), and here the sine comes first.",
        {"result": torch.t},
    ),
    ("by_one_place", "Your matrix shifts by one place, whatever the offset is. The angle of each block is the offset times the frequency of the pair.", {"offset": lambda offset: 1}),
    ("block_for_each_place", "Your matrix is twice as wide as it should be: it has a block of 2×2 for each place. A block belongs to a pair of places, so there are D/2 of them.", {"width": lambda width: 2 * width}),
    ("blocks_alone", "You return the blocks one after the other, as D/2×2×2. They belong on the diagonal of one matrix of width×width, with zeros everywhere else.", {MATRIX: lambda first, second: torch.stack([first, second], -2).float()}),
)  # fmt: skip


def _halves(matrix):
    """The same for positions whose sines come first and whose cosines come after all of them."""
    places = torch.arange(len(matrix)).unflatten(0, (-1, 2)).T.flatten()
    return matrix[places][:, places]


task.changed(
    "for_halves",
    "Your matrix is for positions whose sines are all in the first half and whose cosines are all in the second. Here sines and cosines alternate: the places 2i and 2i + 1 are a pair, so its block of 2×2 lies on the diagonal.",
    {"result": _halves},
)
task.changed(
    "last_pair_alone",
    "Only the last pair is shifted: you make a new matrix of zeros for each pair, and the blocks before are lost. Make the matrix once, before the loop, and fill in one block after the other.",
    {
        MATRIX: lambda *rows, width: _blocks(
            *(row * (torch.arange(len(row)) == width // 2 - 1)[:, None] for row in rows)
        )
    },
)


@task.mistake(
    "Your matrix is right for position 0 and for no other. It is made from two vectors, that of position 0 and that of the position `offset`. The matrix should do for every position, so it turns each pair by itself, by an angle that does not depend on p."
)
def made_for_position_0(width, offset):
    table = _positions(offset + 1, width)
    return (torch.outer(table[offset], table[0]) / (width / 2)).float()
