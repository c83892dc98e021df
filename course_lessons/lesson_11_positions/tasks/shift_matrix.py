"""Task 11.shift_matrix: the query's matrix of a head that looks so many words back, whatever the words are."""

from math import cos, sin

import torch

from course_lessons.lesson_11_positions.tasks._angles import BASE, frequencies, interleaved
from course_lessons.shared.partial_credit import EDGE
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "the query matrix of a head that looks back",
    arguments=("words", "width", "back", "peak"),
    result="matrix (words+width)×width",
    difficulty=4,
    importance=3,
    minutes=25,
    partial=EDGE,
)


def _positions(length, width):
    angles = torch.arange(length).double()[:, None] * frequencies(width)
    return interleaved(angles.sin(), angles.cos())


@task.property
def the_word_does_not_count(case, value):
    """Zeros in the rows that meet the word's numbers."""
    words = case.args[0]
    if not words or (value[:words].abs() < 1e-4).all():
        return None
    row, column = (value[:words].abs() >= 1e-4).nonzero()[0].tolist()
    return f"A row of x begins with {count(words, 'number')} for the word, on which the query must not depend: the matrix should begin with {count(words, 'row')} of zeros. In row {row}, column {column} you have {value[row, column]:.4g}."


@task.property
def every_query_is_a_position_moved_back(case, value):
    """A position times the matrix is the one so many words back, times peak / (width / 2)."""
    words, width, back, peak = case.args
    table = _positions(back + 7, width)
    queries, wanted = table[back:] @ value[words:].double(), table[:7] * peak / (width / 2)
    near = (queries - wanted).abs() < 1e-3
    right = near.all(1)
    if right.all():
        return None
    p = int((~right).nonzero()[0])
    place = int((~near[p]).nonzero()[0])
    also = " The same matrix has to do this for every position, not just for one." if right.any() else ""
    return f"The query of position {p + back} should be position {p} times {peak / (width / 2):.4g}, so that its product with position {p} is {peak:.4g}. It is not: entry {place} should be {wanted[p, place]:.4g}, but yours is {queries[p, place]:.4g}.{also}"


@task.property
def pairs_stay_apart(case, value):
    """Zeros outside the blocks of 2×2."""
    words, width = case.args[:2]
    pair = torch.arange(width) // 2
    outside = (value[words:].abs() > 1e-4) & (pair[:, None] != pair)
    if not outside.any():
        return None
    row, column = outside.nonzero()[0].tolist()
    number = value[words + row, column].item()
    undetermined = (
        " If you solve equations for the matrix, rounding leaves such small numbers undetermined: compute each block from the cosine and the sine of its angle."
        if abs(number) < 0.01
        else ""
    )
    return f"The number in row {words + row} and column {column} should be 0, since row and column belong to different pairs: each pair is rotated separately. Yours is {number:.4g}.{undetermined}"


@task.cases
def _(draw):
    def whole(low, high):
        return int(draw.whole(low, high))

    def case(words, width, back, peak, edge=False):
        return Case(f"{count(words, 'number')} for the word, width {width}, {back} back, peak {peak:g}", (words, width, back, peak), edge=edge)  # fmt: skip

    for words, width, back in ((0, 2, whole(2, 5)), (1, 4, whole(1, 4)), (3, 6, whole(3, 8)), (5, 10, whole(5, 18))):
        yield case(words, width, back, whole(16, 48) / 8)
    for widths in ((14, 22), (26, 34)):
        yield case(7, widths[whole(0, 2)], whole(7, 60), whole(16, 48) / 8)
    yield case(2, 6, 0, 3.0, edge=True)
    yield case(2, 10, 100, 3.0, edge=True)
    yield case(4, 4, 4, 4.0, edge=True)
    yield case(3, 128, 11, 20.0, edge=True)
    yield case(2, 4, 3, 0.3, edge=True)


@task.oracle
def _(words, width, back, peak):
    matrix = torch.zeros(words + width, width, dtype=torch.float64)
    for i in range(width // 2):
        angle, share = back / BASE ** (2 * i / width), peak / (width / 2)
        row = words + 2 * i
        matrix[row, 2 * i] = matrix[row + 1, 2 * i + 1] = share * cos(angle)
        matrix[row, 2 * i + 1] = share * sin(angle)
        matrix[row + 1, 2 * i] = -share * sin(angle)
    return matrix


def _blocks(first, second):
    """[[a, b], [c, d]] for each pair, along the diagonal; the columns of `first` are a, b, those of `second` c, d."""
    return torch.block_diag(*torch.stack([first, second], -2)).float() if len(first) else torch.zeros(0, 0)


def _below_zeros(words, matrix):
    return torch.cat([torch.zeros(words, *matrix.shape[1:]), matrix])


@task.mistake()
def made_for_position_0(words, width, back, peak):
    table = _positions(back + 1, width)
    return _below_zeros(words, (torch.outer(table[back], table[0]) * peak / (width / 2) ** 2).float())
