"""Task 02.softmax: softmax with a temperature."""

import torch

from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "softmax with a temperature",
    arguments=("scores …×S", "temperature"),
    result="weights …×S",
    difficulty=2,
    importance=5,
    minutes=15,
    partial={"overflow": (0.5, "right until a score is too large for exp.")},
)


task.property(rows_sum_to_one)


task.property(no_weight_is_negative)


@task.cases
def _(draw):
    three = draw.distinct(3, 0, 7).float()
    yield Case("three scores", (three,))
    yield Case("three scores, temperature 2", (three, 2.0))
    for size in sizes(B=3, S=5):
        yield Case(f"{count(size.B, 'row')} of {size.S} scores", (draw.numbers(size.B, size.S),), size.full)
    low, high, highest = sorted(draw.distinct(3, 0, 6).tolist())
    maxima = torch.tensor([[low, high], [highest, low]]).float()
    yield Case("2 rows of 2 scores, with different maxima", (maxima,))
    yield Case("3 rows of 5 scores, temperature 0.5", (draw.numbers(3, 5), 0.5), True)
    yield Case("3 rows of 5 scores, temperature 0.25", (draw.numbers(3, 5), 0.25))
    yield Case("scores of shape (2, 3, 5), temperature 3", (draw.numbers(2, 3, 5), 3.0), True)
    yield Case("scores of shape (2, 2, 3, 2), temperature 1.25", (draw.numbers(2, 2, 3, 2), 1.25))
    far = torch.tensor([[1e4, -1e4, 0.0, 9e3], [-1e4, -2e4, -3e4, -1.5e4]])
    yield Case("very large scores, near ±10,000", (far,), edge=True)
    yield Case("very large scores, near 30,000", (torch.tensor([[3e4, 29_999.0, -3e4, 0.0]]),), edge=True)
    yield Case("scores of ±10,000, temperature 1,000", (far, 1000.0), edge=True)
    yield Case("a single score", (torch.tensor([[3.0], [-1.0]]),), edge=True)


def guessed_axis(z):
    """Return the axis that `torch.nn.functional.softmax` takes without `dim`."""
    return 0 if z.dim() in (0, 1, 3) else 1
