"""Task 01.sentiment: logistic regression on the sums."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "logistic regression on the sums",
    arguments=("sums B×D", "weight D", "bias"),
    result="probability B",
    difficulty=1,
    importance=4,
    minutes=10,
)


@task.cases
def _(draw):
    for size in sizes(B=3, D=5):
        yield Case(
            f"{count(size.B, 'sentence')}, width {size.D}",
            (draw.numbers(size.B, size.D), draw.numbers(size.D), draw.numbers(13)[0]),
            size.full,
        )
    yield Case(
        "a clearly positive and a clearly negative sentence",
        (torch.tensor([[4.0], [-4.0], [0.5]]), torch.full((1,), 2.0), draw.numbers(13)[0] / 4),
    )
    far = (torch.tensor([[1e4], [-1e4], [0.0]]), torch.ones(1), torch.tensor(0.0))
    yield Case("scores of ±10,000", far, True, hazard=True)
