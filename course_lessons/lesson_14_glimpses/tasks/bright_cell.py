"""Task 14.bright_cell: the location of a bright cell, where the next look should go."""

import torch

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "the location of a bright cell",
    arguments=("location 2", "row", "column", "k", "side"),
    result="location 2",
    difficulty=1,
    importance=4,
    minutes=5,
    partial=SIDE_EFFECT,
)


def _inside(draw, k, side, row, column, beyond=0.0):
    """Return a location so many pixels beyond a corner of four pixels, from which patch k lies in the picture; and the other arguments."""
    half = 4 * 2**k  # the patch reaches so many pixels to each side
    corner = draw.whole(half, side - half + 1, 2) + beyond  # column and row of the pixel
    return 2 * corner / side - 1, row, column, k, side


@task.cases
def _(draw):
    first, second = (int(n) for n in draw.distinct(2, 0, 4))
    yield Case("a look at the centre, patch 0", (torch.zeros(2), first, 7 - second, 0, 24))
    yield Case("a look at the centre, patch 1", (torch.zeros(2), 4 + second, first, 1, 24))
    for k, side in ((0, 32), (1, 24), (1, 60), (2, 40), (2, 60), (3, 100)):
        row, column = (int(n) for n in draw.distinct(2, 0, 8))
        yield Case(f"patch {k}, {side}×{side} pixels", _inside(draw, k, side, row, column))
    yield Case("patch 1, 35×35 pixels, an odd number", _inside(draw, 1, 35, 7 - second, first, beyond=0.25))
    yield Case("a look at the middle of a pixel", _inside(draw, 1, 32, second, 7 - first, beyond=0.5))
    location = torch.tensor([0.96, -0.98])  # the upper right corner of the picture, in which a part of the cell lies
    yield Case("a cell whose middle lies outside the picture", (location, 3, 4, 3, 100), edge=True)
