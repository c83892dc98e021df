"""Task 02.masked_softmax: softmax over the positions that may be attended to."""

import torch

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_lessons.shared.weight_properties import no_weight_is_negative, nothing_where_masked, rows_sum_to_one
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "softmax with a mask",
    arguments=("scores …×S", "mask …×S"),
    result="weights …×S",
    difficulty=3,
    importance=5,
    minutes=20,
    partial=SIDE_EFFECT
    | {
        "empty_row_nan": (0.5, "right in every row with something to attend to."),
        "empty_row_uniform": (0.5, "right in every row with something to attend to."),
        "gradient": (0.75, "every weight is right, but its gradient is not."),
    },
)


task.property(rows_sum_to_one)


task.property(no_weight_is_negative)


task.property(lambda case, value: nothing_where_masked(value, case.args[1]))


@task.cases
def _(draw):
    first, last = (draw.distinct(2, 1, 6) / 2).tolist()  # and a 0 that is not masked
    yield Case(
        "three scores, the last one masked", (torch.tensor([[first, 0.0, last]]), torch.tensor([[True, True, False]]))
    )
    for size in sizes(B=3, S=5):
        args = (draw.numbers(size.B, size.S), draw.mask(size.B, size.S))
        yield Case(f"{count(size.B, 'row')} of {size.S} scores", args, size.full)
    yield Case("scores of shape (2, 3, 5)", (draw.numbers(2, 3, 5), draw.mask(2, 3, 5)), True)
    yield Case("as many rows as scores", (draw.numbers(5, 5), draw.mask(5, 5)))
    some = torch.tensor([[True, True, True], [True, True, False]])
    yield Case("a row in which nothing is masked", (draw.numbers(2, 3), some))
    open_and_empty = torch.tensor([[True, False], [False, False]])
    yield Case(
        "2 rows of 2 scores, nothing to attend to in the second", (draw.numbers(2, 2), open_and_empty), edge=True
    )
    empty = draw.mask(3, 5)
    empty[1] = False
    yield Case("a row with nothing to attend to", (draw.numbers(3, 5), empty), True, edge=True)
    yield Case("a single row, without a first axis", (draw.numbers(5), draw.mask(5)), edge=True)
    high = torch.tensor([[1000.0, 999.0, 0.0]])
    yield Case("scores of 1,000 and a masked 0", (high, torch.tensor([[True, True, False]])), edge=True)
    low = torch.tensor([[-29_999.0, -3e4, 0.0, 1.0], [-1e4, 3.0, 1e4, 9e3]])
    yield Case(
        "scores of -30,000 next to a masked 0",
        (low, torch.tensor([[True, True, False, False], [True, True, False, True]])),
        edge=True,
    )
