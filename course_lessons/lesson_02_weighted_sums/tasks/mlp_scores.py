"""Task 02.mlp_scores: fixed attention: a small network for each word."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "fixed attention: a small network for each word",
    arguments=("words B×S×D", "weight H×D", "bias H", "theta H"),
    result="scores B×S",
    difficulty=2,
    importance=3,
    minutes=10,
)


@task.cases
def _(draw):
    # S, D and H always differ: what runs only where they are equal stops at once.
    for B, S, D, H in ((1, 2, 3, 4), (2, 2, 3, 4), (1, 5, 3, 4), (1, 2, 5, 4), (1, 2, 4, 3), (2, 5, 7, 3)):
        args = (draw.numbers(B, S, D), draw.numbers(H, D), draw.numbers(H) + 0.25, draw.numbers(H) + 0.25)
        name = f"{count(B, 'sentence')} of {S} words, width {D}, {count(H, 'hidden unit')}"
        yield Case(name, args, D == 7)
    ones = tuple(draw.numbers(*s) for s in ((2, 1, 1), (1, 1), (1,), (1,)))
    yield Case("sentences of one word, one hidden unit", ones, edge=True)
    square = (draw.numbers(2, 3, 3), draw.numbers(3, 3), draw.numbers(3) + 0.25, draw.numbers(3) + 0.25)
    yield Case("S, D and H all 3", square, edge=True)
    far = torch.tensor([[[1e3, 0.0], [-1e3, 1.0]]])
    yield Case("large numbers", (far, torch.ones(2, 2), draw.numbers(2), draw.numbers(2) + 0.25), True, hazard=True)
