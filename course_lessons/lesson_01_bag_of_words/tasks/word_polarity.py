"""Task 01.word_polarity: the cosine between each word and the direction of sentiment."""

from operator import matmul, mul, truediv

import torch
from torch.nn.functional import normalize

from course_lessons.shared.weight_properties import cosines_reach_far_enough
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

# Polarity is looked at, not trained through: no gradient is asked for.
task = Task(
    "01.word_polarity",
    "the cosine between each word and the direction of sentiment",
    arguments=("word_vectors V×D", "weight D"),
    result="polarity V",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "The cosine depends only on the angle: a long and a short vector in the same direction get the same value.",
        (
            "Take the weight [2, 0] and the word [3, 4]. Their dot product is 6, and their lengths are 2 and √(9 + 16) = 5, so the cosine is 6 / "
            "(2·5) = 0.6. For the word [0, 0], the dot product and the product of the lengths are both 0, and 0/0 is not a number: return 0 "
            "there."
        ),
        (
            "dots = the matrix product of word_vectors and weight; lengths = the norm of each row times the norm of weight; divide where lengths > 0, and return 0 elsewhere."
        ),
    ),
    partial={"zero_gives_nan": (0.75, "right wherever no vector is zero.")},
)


@task.cases
def _(draw):
    for size in sizes(V=5, D=3):
        words = draw.numbers(size.V, size.D) + 0.25  # no zero vector
        yield Case(f"{count(size.V, 'word')} of width {size.D}", (words, draw.numbers(size.D) + 0.25))
    small = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    yield Case("2 words of width 2, the second one zero", (small, torch.tensor([1.0, 0.0])), edge=True)
    yield Case("2 words of width 2, a direction that is zero", (small.flip(0), torch.zeros(2)), edge=True)
    words = draw.numbers(5, 3) + 0.25
    words[2] = 0
    yield Case("a word whose vector is zero", (words, draw.numbers(3) + 0.25), edge=True)
    yield Case(
        "short vectors",
        (0.05 * normalize(draw.numbers(5, 3)), 0.01 * normalize(draw.numbers(3) + 0.25, dim=0)),
        edge=True,
    )
    yield Case("a single word", (draw.numbers(1, 3) + 0.25, draw.numbers(3) + 0.25), edge=True)
    yield Case("a direction that is zero", (draw.numbers(5, 3) + 0.25, torch.zeros(3)), edge=True)


@task.property
def nothing_is_added_to_the_lengths(case, value):
    return cosines_reach_far_enough(value, task.oracle_function(*(argument.double() for argument in case.args)))


@task.steps
def _(word_vectors, weight):
    lengths_of_words = yield "the lengths of the words", lambda words: words.norm(dim=1), word_vectors
    length_of_weight = yield "the length of weight", torch.norm, weight
    lengths = yield "the product of the lengths", mul, lengths_of_words, length_of_weight
    product = yield "the product of words and weight", matmul, word_vectors, weight
    quotient = yield "the product divided by the lengths", truediv, product, lengths
    zeros = lambda quotient, lengths: quotient.masked_fill(lengths == 0, 0.0)  # noqa: E731
    polarity = yield "the quotient or 0", zeros, quotient, lengths
    return polarity


LENGTHS = "the product of the lengths"
task.changed_each(
    ("dot_product", "These are dot products: long vectors get large values. Divide by both lengths, so that only the angle counts.", {"the product divided by the lengths": left_out}),
    ("word_length_missing", "You divide only by the length of weight. Divide by the length of each word as well.", {LENGTHS: lambda of_words, of_weight: of_weight}),
    ("weight_length_missing", "You divide only by the length of each word. Divide by the length of weight as well.", {LENGTHS: left_out}),
    ("lengths_at_least_1", "You divide by 1 if the product of the lengths is smaller than 1, so short vectors get a cosine that is too close to 0. Divide by the lengths as they are, and return 0 only where one of them is 0.", {LENGTHS: lambda of_words, of_weight: (of_words * of_weight).clamp(min=1)}),
    ("norm_of_everything", "You divide by the norm of the whole matrix. Each word has its own length: take the norm of each row.", {"the lengths of the words": torch.norm}),
    ("lengths_of_features", "You take the norm along axis 0, over the words, which gives a length for each feature. Each word has its own length: take the norm along the features, the last axis.", {"the lengths of the words": lambda words: words.norm(dim=0)}),
    ("zero_gives_nan", "A zero vector gives 0/0, which is NaN. It has no direction, so return 0 there.", {"the quotient or 0": left_out}),
    ("squared_lengths", "You divide by the squared lengths: the square root is missing.", {LENGTHS: lambda of_words, of_weight: (of_words * of_weight) ** 2}),
    ("sign_lost", "You return the cosine without its sign. The sign is what distinguishes positive words from negative ones.", {"result": torch.abs}),
)  # fmt: skip
