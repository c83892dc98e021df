"""Task 16.position_encoding: how much of each feature the word at each place gives (Sukhbaatar et al. 2015, section 4.1)."""

from operator import mul, sub, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.shares import EDGE

task = Task(
    "16.position_encoding",
    "a weight for each place and feature",
    arguments=("words", "width"),
    result="encoding J×D",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "The table has a row for each place j of a sentence and a column for each feature k. Two shares decide each entry: how far the place is along the sentence, j/J, and how far the feature is along the vector, k/D. Both are counted from 1, so the last of each is 1.",
        "Take 4 words of width 2. For the first word j/J is 0.25, so its row is 0.75 - 0.5·0.5 = 0.5 and 0.75 - 1·0.5 = 0.25. For the second, j/J is 0.5, and both entries are 0.5 - 0 = 0.5. The third has 0.25 + 0.5·0.5 = 0.5 and 0.25 + 1·0.5 = 0.75, and the fourth has 0 + 0.5·1 = 0.5 and 0 + 1·1 = 1. The first feature counts all words alike; the second counts late words more.",
        "along = 1, 2, … up to words, divided by words, as J×1; feature = 1, 2, … up to width, divided by width, D; return 1 minus along, minus the product of feature and (1 minus twice along): J×D by broadcasting.",
    ),
    partial=EDGE,
)


@task.property
def last_feature_is_how_far_a_word_stands(case, value):
    """For k = D the formula is j/J."""
    words, _ = case.args
    right = torch.arange(1, words + 1) / words
    off = (value[:, -1] - right).abs() > 1e-3
    if not off.any():
        return None
    j = int(off.nonzero()[0])
    return f"In the last column k is D, and the formula comes to j/J. For the {words} words of this input, the one in row {j} should have {right[j]:.4g} there; yours has {value[j, -1]:.4g}."


@task.property
def last_word_is_how_far_a_feature_stands(case, value):
    """For j = J the formula is k/D."""
    _, width = case.args
    right = torch.arange(1, width + 1) / width
    off = (value[-1] - right).abs() > 1e-3
    if not off.any():
        return None
    k = int(off.nonzero()[0])
    return f"In the last row j is J, and the formula comes to k/D. With a width of {width}, column {k} should have {right[k]:.4g} there; yours has {value[-1, k]:.4g}."


@task.cases
def _(draw):
    for words, widths in (((2, 3), (2, 4)), ((4, 6), (2, 3)), ((2, 3), (5, 7)), ((5, 7), (4, 6)), ((9, 13), (10, 20))):
        words, width = words[int(draw.whole(0, 2))], widths[int(draw.whole(0, 2))]
        yield Case(f"{count(words, 'word')} of width {width}", (words, width))
    words, width = 7 + 2 * int(draw.whole(0, 8)), 24 + 2 * int(draw.whole(0, 8))
    yield Case(f"{words} words of width {width}", (words, width))
    yield Case("a single word", (1, 6), edge=True)
    yield Case("a width of 1", (5, 1), edge=True)
    yield Case("as many words as features", (6, 6), edge=True)
    yield Case("200 words", (200, 3), edge=True)
    yield Case("width 512", (3, 512), edge=True)


@task.oracle
def _(words, width):
    rows = []
    for j in range(1, words + 1):
        rows.append([(1 - j / words) - (k / width) * (1 - 2 * j / words) for k in range(1, width + 1)])
    return torch.tensor(rows, dtype=torch.float64)


@task.steps
def _(words, width):
    places = torch.arange(1, words + 1).double()[:, None]
    along = yield "j/J", truediv, places, words
    feature = yield "k/D", truediv, torch.arange(1, width + 1).double(), width
    before = yield "1 minus j/J", sub, 1, along
    twice = yield "2j/J", mul, 2, along
    turned = yield "1 minus 2j/J", sub, 1, twice
    product = yield "k/D times (1 minus 2j/J)", mul, feature, turned
    encoding = yield "1 minus j/J, minus k/D times (1 minus 2j/J)", sub, before, product
    return encoding


def _formula(j, k):
    return (1 - j) - k * (1 - 2 * j)


def _encoding(words, width, formula=_formula, first=(1, 1), over=(0, 0)):
    """The table, with other first numbers of j and k, or other numbers that they are divided by."""
    j = (torch.arange(words) + first[0])[:, None] / (words + over[0])
    return formula(j, (torch.arange(width) + first[1]) / (width + over[1])).expand(words, width)


def _mistake(name, sentence, **parts):
    """Register an encoding that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda words, width: _encoding(words, width, **parts))


# Where j and k begin

_mistake(
    "counted_from_0",
    "You count words and features from 0, as `torch.arange(words)` does. In the formula j and k begin with 1, so that the last word has j/J = 1.",
    first=(0, 0),
)
_mistake(
    "words_from_0",
    "You count the words from 0. In the formula j begins with 1, so that the last word has j/J = 1.",
    first=(0, 1),
)
_mistake(
    "features_from_0",
    "You count the features from 0. In the formula k begins with 1, so that the last feature has k/D = 1.",
    first=(1, 0),
)
_mistake(
    "one_more_below",
    "You divide by one more than there are: j by J + 1, and k by D + 1. Divide j by J and k by D.",
    over=(1, 1),
)


@task.mistake(
    "Your shares run from 0 to 1, as `torch.linspace(0, 1, …)` gives them. The formula's first word has j/J = 1/J and not 0, and the same holds for features: divide 1, 2, … by their number."
)
def from_0_to_1(words, width):
    return _formula(torch.linspace(0, 1, words)[:, None], torch.linspace(0, 1, width))


@task.mistake(
    "Your words are counted from the end of the sentence: the first row holds what belongs to the last word. Reverse the order of the rows."
)
def words_from_the_end(words, width):
    return _encoding(words, width).flip(0)


@task.mistake(
    "J and D are exchanged: you divide j by the width and k by the number of words. Divide j by J and k by D."
)
def sizes_exchanged(words, width):
    return _formula((torch.arange(words) + 1)[:, None] / width, (torch.arange(width) + 1) / words)


@task.mistake("You divide with `//`, which rounds down, so every share is 0 until the last one is 1. Divide with `/`.")
def divided_without_a_rest(words, width):
    return _formula((torch.arange(words) + 1)[:, None] // words, (torch.arange(width) + 1) // width).float()


@task.mistake("j and k are not divided. The formula has the shares j/J and k/D, which lie between 0 and 1.")
def not_divided(words, width):
    return _formula((torch.arange(words) + 1)[:, None], torch.arange(width) + 1).float()


# The formula

_mistake(
    "added",
    "You add the product with k/D. The formula subtracts it.",
    formula=lambda j, k: (1 - j) + k * (1 - 2 * j),
)
_mistake(
    "not_twice",
    "The 2 in front of j/J is missing: the bracket that k/D is multiplied by is 1 - 2j/J.",
    formula=lambda j, k: (1 - j) - k * (1 - j),
)
_mistake(
    "both_twice",
    "You subtract 2j/J in both brackets. The first one is 1 - j/J, and the second 1 - 2j/J.",
    formula=lambda j, k: (1 - 2 * j) - k * (1 - 2 * j),
)
_mistake(
    "second_bracket_missing",
    "k/D is multiplied by 1 only, and 2j/J is subtracted from the result. Put brackets around 1 - 2j/J.",
    formula=lambda j, k: (1 - j) - k * 1 - 2 * j,
)
_mistake(
    "first_bracket_too_wide",
    "You subtract k/D first and multiply the whole difference by 1 - 2j/J. That bracket belongs to k/D only.",
    formula=lambda j, k: (1 - j - k) * (1 - 2 * j),
)
_mistake(
    "plus_in_the_bracket",
    "Your second bracket is 1 + 2j/J. Its sign is a minus: 1 - 2j/J.",
    formula=lambda j, k: (1 - j) - k * (1 + 2 * j),
)
_mistake(
    "place_alone",
    "Every feature gets the same: your table holds 1 - j/J. Subtract the product of k/D and 1 - 2j/J, which makes the features differ.",
    formula=lambda j, k: 1 - j + 0 * k,
)
_mistake(
    "product_alone",
    "1 - j/J is missing: you return the product of k/D and 1 - 2j/J, without its sign. Subtract this product from 1 - j/J.",
    formula=lambda j, k: k * (1 - 2 * j),
)
_mistake(
    "all_ones",
    "Every entry is 1, so a sentence would be the plain sum of its words, in any order. Compute the formula for each place and feature.",
    formula=lambda j, k: 1 + 0 * j * k,
)


@task.mistake(
    "You return the encoding of the authors' code, 1 + 4(j - (J+1)/2)(k - (D+1)/2) / (JD). It differs from the paper's formula; write the one that is asked for."
)
def as_in_the_authors_code(words, width):
    j, k = (torch.arange(words) + 1)[:, None], torch.arange(width) + 1
    return 1 + 4 * (j - (words + 1) / 2) * (k - (width + 1) / 2) / (words * width)


@task.mistake(
    "Each row is divided by its sum. The formula's rows need not add up to 1, and these numbers are not attention weights: leave them as they are."
)
def rows_divided_by_their_sums(words, width):
    encoding = _encoding(words, width)
    return encoding / encoding.sum(1, keepdim=True)


# The form of the table


@task.mistake("Your table is transposed: words are rows and features are columns, so its shape is J×D.")
def transposed(words, width):
    return _encoding(words, width).T


@task.mistake(
    "The numbers are right but in the wrong places: a D×J table was cut into rows of another length, as `view` and `reshape` do. Transpose it with `.T`, or give j an axis of its own from the start."
)
def cut_anew(words, width):
    return _encoding(words, width).T.reshape(words, width)


@task.mistake("Your table has an axis too many, 1×J×D. Return J×D; it fits every sentence of a batch by broadcasting.")
def axis_too_many(words, width):
    return _encoding(words, width)[None]
