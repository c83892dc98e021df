"""Task 01.word_polarity: the cosine between each word and the direction of sentiment."""

import torch
from torch.nn.functional import normalize

from course_lessons.shared.weight_properties import cosines_reach_far_enough, zeros_only_for_zero_vectors
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

# Polarity is looked at, not trained through: no gradient is asked for.
task = Task(
    __name__,
    "the cosine between each word and the direction of sentiment",
    arguments=("word_vectors V×D", "weight D"),
    result="polarity V",
    difficulty=2,
    importance=3,
    minutes=10,
    partial={"zero_gives_nan": (0.75, "right wherever no vector is zero.")},
)


@task.cases
def _(draw):
    for size in sizes(V=5, D=3):
        words = draw.numbers(size.V, size.D) + 0.25  # no zero vector
        yield Case(f"{count(size.V, 'word')} of width {size.D}", (words, draw.numbers(size.D) + 0.25))
    for weight in ([1.5, 0.5, 1.0], [0.0, 2.0, 0.5], [1.0, -3.0, 2.0]):  # then with an entry of 0, then with a sum of 0
        words = torch.tensor([[2.0, 0.0, 1.0], [0.0, 0.0, 1.5], [1.0, 1.5, -2.5], [1.0, 2.0, 0.5]])[
            draw.distinct(4, 0, 4)
        ]
        yield Case(
            f"entries of 0, and entries that add up to 0, with the direction {weight}", (words, torch.tensor(weight))
        )
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
    along = torch.tensor([[1.0, 2.0], [-2.0, -4.0], [2.0, -1.0]])[draw.distinct(3, 0, 3)]
    yield Case("a word along the direction, one against it and one at right angles", (along, torch.tensor([0.5, 1.0])))
    yield Case("a single word", (draw.numbers(1, 3) + 0.25, draw.numbers(3) + 0.25), edge=True)
    yield Case("a direction that is zero", (draw.numbers(5, 3) + 0.25, torch.zeros(3)), edge=True)


@task.property
def nothing_is_added_to_the_lengths(case, value):
    return cosines_reach_far_enough(value, task.oracle_function(*(argument.double() for argument in case.args)))


@task.property
def only_zero_vectors_give_zero(case, value):
    words, weight = (argument.double() for argument in case.args)
    return zeros_only_for_zero_vectors(value, task.oracle_function(words, weight), words, weight)
