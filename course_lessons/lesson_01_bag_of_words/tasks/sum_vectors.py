"""Task 01.sum_vectors: the sum of a sentence's word vectors."""

import torch

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "the sum of a sentence's word vectors",
    arguments=("words B×S×D", "mask B×S"),
    result="sums B×D",
    difficulty=2,
    importance=5,
    minutes=10,
    partial=SIDE_EFFECT,
)


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of up to {S} words, width {D}"
        yield Case(
            name, (draw.numbers(B, S, D) + 0.25, draw.lengths_mask(B, S)), size.full
        )  # no 0: a mask shows on all
    yield Case(
        "a sentence of padding only", (draw.numbers(2, 3, 2), torch.tensor([[True] * 3, [False] * 3])), edge=True
    )
    yield Case(
        "the first sentence is the shorter one",
        (draw.numbers(2, 3, 2) + 0.25, torch.tensor([[True, False, False], [True] * 3])),
    )
    yield Case(
        "a batch that is wider than its longest sentence",
        (draw.numbers(2, 3, 2) + 0.25, torch.tensor([[True, True, False], [True, False, False]])),
    )
    front = torch.tensor([[True, True, True], [False, True, True]])
    yield Case("padding in front", (draw.numbers(2, 3, 2) + 0.25, front), edge=True)
    between = torch.tensor([[True, False, True, True], [False, True, False, True]])
    yield Case("padding between the words", (draw.numbers(2, 4, 3) + 0.25, between), edge=True)
    yield Case("sentences of one word, width 1", (draw.numbers(2, 1, 1), torch.ones(2, 1) > 0), edge=True)
