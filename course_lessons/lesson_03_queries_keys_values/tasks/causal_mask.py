"""Task 03.causal_mask: no look into the future."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "03.causal_mask",
    "no look into the future",
    arguments=("size",),
    result="mask size×size",
    difficulty=1,
    importance=4,
    minutes=5,
    hints=(
        "Row t belongs to the query at position t. It may attend to the keys from 0 to t, which includes itself, and to none after that.",
        (
            "Take size 2. The first query may attend to the first key only, so its row is True, False. The second query may attend to both keys, "
            "so its row is True, True."
        ),
        "Compare torch.arange(size) as a row with torch.arange(size) as a column, or keep the lower triangle of a matrix of True (tril).",
    ),
)


@task.cases
def _(draw):
    for low, high in ((2, 4), (4, 12), (12, 40)):
        size = int(draw.whole(low, high))
        yield Case(f"size {size}", (size,))
    yield Case("size 1", (1,), edge=True)


@task.steps
def _(size):
    square = yield "the square matrix of True", torch.Tensor.bool, torch.ones(size, size)
    mask = yield "the lower triangle", torch.tril, square
    return mask


task.changed_each(
    ("hides_itself", "A position may attend to itself too: the diagonal should be True. Without it the first position has nothing to attend to.", {"the lower triangle": lambda square: square.tril(-1)}),
    ("sees_one_ahead", "Each position sees one step into the future: the True part reaches one diagonal too far.", {"the lower triangle": lambda square: square.tril(1)}),
    ("future_only", "This is the upper triangle: each position sees itself and the future. Rows are queries and columns are keys, so the past is on the left.", {"the lower triangle": torch.triu}),
    ("inverted", 'You mark the future with True. In this course True means "may attend": the mask is the wrong way round.', {"the lower triangle": lambda square: square.triu(1)}),
    ("numbers_not_truth", "You return 0 and 1 as numbers. Start from a matrix of True (dtype=torch.bool), or end with `.bool()`.", {"result": torch.Tensor.float}),
    ("whole_numbers_not_truth", "You return 0 and 1 as whole numbers. Start from a matrix of True (dtype=torch.bool), or end with `.bool()`.", {"result": torch.Tensor.long}),
    ("additive_mask", "You return 0 and minus infinity, a mask that is added to scores. Here a mask holds True (may attend) and False.", {"result": lambda mask: mask.float().log()}),
)  # fmt: skip
