"""Task 11.shift_matrix: the query's matrix of a head that looks so many words back, whatever the words are."""

from math import cos, sin
from operator import mul

import torch

from course_lessons.lesson_11_positions.tasks._angles import BASE, frequencies, frequency_mistakes, interleaved
from course_lessons.shared.partial_credit import EDGE
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "11.shift_matrix",
    "the query matrix of a head that looks back",
    arguments=("words", "width", "back", "peak"),
    result="matrix (words+width)×width",
    difficulty=4,
    importance=3,
    minutes=25,
    hints=(
        "Take the three promises one by one. Which rows of the matrix are multiplied by the word's numbers, and what must they be if the word should not matter? The other rows turn the position, a row vector to the left of the matrix, into the position `back` words earlier. What does the lesson multiply P by, and on which side? By what angle does each pair have to be rotated for more than one step? "
        "Finally, how large is the product of a position with itself? It is the sum of sin² + cos² over all pairs. What factor makes it `peak`?",
        (
            "Take no numbers for the word, a width of 2, and back and peak of 1, so there is one pair, with a frequency of 1. Position 1 is (0.8415, 0.5403), and position 0 is (0, 1). The matrix has the rows (0.5403, 0.8415) and (−0.8415, 0.5403). "
            "Position 1 times the matrix is 0.8415·0.5403 − 0.5403·0.8415 = 0 and 0.8415·0.8415 + 0.5403·0.5403 = 1, which is position 0. Its product with position 0 is 1, as peak requires. With a width of 4, the product would be 2, so the matrix would have to be halved. With three numbers for the word, three rows of zeros come first."
        ),
        "angles = back divided by 10000 to the power of (2i / width), one for each pair i; M = zeros of width×width; for each pair: rows 2i and 2i + 1, columns 2i and 2i + 1 get the 2×2 block of hint 2, with the cosine and sine of its angle; multiply by peak / (width / 2); put `words` rows of zeros above it.",
    ),
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
        yield case(words, width, back, whole(4, 12) / 2)
    for widths in ((14, 22), (26, 34)):
        yield case(7, widths[whole(0, 2)], whole(7, 60), whole(4, 12) / 2)
    yield case(2, 6, 0, 3.0, edge=True)
    yield case(2, 10, 100, 3.0, edge=True)
    yield case(4, 4, 4, 4.0, edge=True)
    yield case(3, 128, 11, 20.0, edge=True)


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


def _beside(left, right):
    return torch.stack([left, right], -1)


def _below_zeros(words, matrix):
    return torch.cat([torch.zeros(words, *matrix.shape[1:]), matrix])


@task.steps
def _(words, width, back, peak):
    of_pairs = yield "the frequencies", frequencies, width
    angles = yield "the angles", mul, back, of_pairs
    sines = yield "the sines", torch.sin, angles
    cosines = yield "the cosines", torch.cos, angles
    first = yield "the first rows of the blocks", _beside, cosines, sines
    minus = yield "the negative sines", torch.neg, sines
    second = yield "the second rows of the blocks", _beside, minus, cosines
    matrix = yield "the blocks along the diagonal", _blocks, first, second
    scaled = yield "the blocks with their size", mul, matrix, peak / (width / 2)
    whole = yield "the matrix below zeros", _below_zeros, words, scaled
    return whole


frequency_mistakes(task)

ANGLES, SINES, COSINES, MINUS = "the angles", "the sines", "the cosines", "the negative sines"
FIRST, SECOND, MATRIX = "the first rows of the blocks", "the second rows of the blocks", "the blocks along the diagonal"
SCALED, WHOLE = "the blocks with their size", "the matrix below zeros"
task.changed_each(
    ("no_minus", "A minus sign is missing in the second row of your blocks. The sine of a − b is sin a cos b − cos a sin b, and the cosine is cos a cos b + sin a sin b.", {MINUS: left_out}),
    (
        "second_row_negative",
        "The second row of your blocks has the wrong sign. The sine of a − b is sin a cos b − cos a sin b, and the cosine is cos a cos b + sin a sin b: the only minus sign belongs to a sine.",
        {SECOND: lambda minus, cosines: -_beside(minus, cosines)},
    ),
    ("cosines_alone", "Your blocks contain only the cosines, on the diagonal. The new sine needs the old cosine as well, and the new cosine the old sine: sin(a − b) = sin a cos b − cos a sin b.", {SINES: torch.zeros_like}),
    (
        "sine_on_the_diagonal",
        "The sine and cosine of the shift are swapped in your blocks. With 0 words back, the position should stay as it is, so the cosines, which are then 1, belong on the diagonal.",
        {SINES: torch.cos, COSINES: torch.sin},
    ),
    (
        "looks_ahead",
        "Your head looks ahead instead of back: each query is the position `back` words further on. Here the position is a row vector to the left of the matrix, so the blocks are the transposes of the blocks for a column vector to the right.",
        {MATRIX: lambda *rows, right: right(*rows).T},
    ),
    ("one_back", "Your head looks one word back, whatever `back` is. The angle of each block is `back` times the frequency of the pair.", {"back": lambda back: 1}),
    ("block_for_each_place", "Your matrix has a 2×2 block for each entry of the position. A block belongs to a pair of entries, so there are width / 2 of them.", {"width": lambda width: 2 * width}),
    ("blocks_alone", "You return the blocks one after the other, as D/2×2×2. They belong on the diagonal of one matrix, with zeros everywhere else.", {MATRIX: lambda first, second: torch.stack([first, second], -2).float(), WHOLE: lambda words, scaled: scaled}),
    ("size_left_out", "Your queries are rotated correctly, but their size is wrong: `peak` is left out. The product of a position with itself is width / 2, and it should become `peak`.", {SCALED: lambda matrix, share: matrix}),
    ("times_the_peak", "Your queries are rotated correctly, but they are too large: a position's product with itself is width / 2, not 1. Divide by it.", {SCALED: lambda matrix, share, *, peak: matrix * peak}),
    ("divided_by_the_width", "Your scores reach only half of `peak`. A position's product with itself is width / 2, since sin² + cos² = 1 in each *pair*. You divide by the width.", {SCALED: lambda matrix, share: matrix * share / 2}),
    ("no_rows_for_the_words", "Your matrix has no rows for the word's numbers. A row of x holds the word first and the position after it, so put `words` rows of zeros above the blocks.", {WHOLE: lambda words, scaled: scaled}),
    ("position_first", "Your rows of zeros are below the blocks, as if the position came first. A row of x holds the word first and the position after it.", {WHOLE: lambda words, scaled: torch.cat([scaled, torch.zeros(words, *scaled.shape[1:])])}),
    ("words_kept", "Your query still depends on the word: the first rows of the matrix, which are multiplied by the word's numbers, are not 0.", {WHOLE: lambda words, scaled: torch.cat([torch.eye(words, scaled.shape[1]), scaled])}),
)  # fmt: skip


def _halves(matrix):
    """The same for positions whose sines come first and whose cosines come after all of them."""
    places = torch.arange(len(matrix)).unflatten(0, (-1, 2)).T.flatten()
    return matrix[places][:, places]


task.changed(
    "for_halves",
    "Your matrix is for positions whose sines are all in the first half and whose cosines are all in the second. Here sines and cosines alternate: entries 2i and 2i + 1 are a pair, so its 2×2 block lies on the diagonal.",
    {MATRIX: lambda *rows, right: _halves(right(*rows))},
)
task.changed(
    "last_pair_alone",
    "Only the last pair is rotated: you make a new matrix of zeros for each pair, so the earlier blocks are lost. Make the matrix once, before the loop, and fill in one block after the other.",
    {
        MATRIX: lambda *rows, width: _blocks(
            *(row * (torch.arange(len(row)) == width // 2 - 1)[:, None] for row in rows)
        )
    },
)


@task.mistake(
    "Your matrix is correct for only one position, because it is made from the vectors of position 0 and position `back`. The matrix should work for every position, so it rotates each pair separately, by an angle that does not depend on p."
)
def made_for_position_0(words, width, back, peak):
    table = _positions(back + 1, width)
    return _below_zeros(words, (torch.outer(table[back], table[0]) * peak / (width / 2) ** 2).float())
