"""Task 22.to_neighbours: the rows of a query or key matrix, from pairs of halves to pairs of neighbours."""

import torch

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "rotary pairs reordered",
    arguments=("weight HD×D", "heads"),
    result="weight HD×D",
    difficulty=3,
    importance=2,
    minutes=15,
)


@task.cases
def _(draw):
    for heads, d, width in ((1, 4, 3), (2, 4, 3), (3, 6, 5), (5, 8, 7)):
        yield Case(f"{heads} heads of {d} rows", (draw.numbers(heads * d, width), heads), gradient=d == 6)
    yield Case("heads of two rows, in which nothing moves", (draw.numbers(6, 5), 3), edge=True)


@task.property
def _(case, value):
    weight = case.args[0]
    if not isinstance(value, torch.Tensor) or value.shape != weight.shape:
        return None
    old, new = (sorted(map(tuple, rows.tolist())) for rows in (weight, value.detach()))
    if old != new:
        return "Your rows are not the rows of `weight` in a different order: some are lost, some occur twice, or their numbers have changed."
    return None
