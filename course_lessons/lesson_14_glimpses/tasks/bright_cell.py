"""Task 14.bright_cell: the location of a bright cell, where the next look should go."""

from operator import add, mul, sub, truediv

import torch

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "14.bright_cell",
    "the location of a bright cell",
    arguments=("location 2", "row", "column", "k", "side"),
    result="location 2",
    difficulty=1,
    importance=4,
    minutes=5,
    hints=(
        "Count in cells first: how many cells is it from the middle of the patch to the middle of the bright cell? Then turn cells into pixels, and pixels into x and y. Finally, add the location that you started from.",
        "Take a picture of 64×64 pixels and a look at (0.5, 0). In patch 2, the cell in row 2 and column 1 is bright. The middle of column 1 is at 1.5, which is 2.5 cells left of the middle of the patch. A cell is 4 pixels wide, so that is 10 pixels. A pixel is 2/64 wide, so x moves by -10 · 2/64 = -0.3125, from 0.5 to 0.1875. The middle of row 2 is 1.5 cells above the middle of the patch. That is 6 pixels, so y moves from 0 to -0.1875.",
        "for x: cells = column + 0.5 - 4; pixels = cells times 2 to the power of k; move = pixels times 2 / side; x = location[0] plus move. Do the same for y, with row and location[1]. Return x and y in one tensor.",
    ),
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
    yield Case("a look at the middle of a pixel", _inside(draw, 1, 32, second, 7 - first, beyond=0.5))
    location = torch.tensor([0.96, -0.98])  # the upper right corner of the picture, in which a part of the cell lies
    yield Case("a cell whose middle lies outside the picture", (location, 3, 4, 3, 100), edge=True)


@task.steps
def _(location, row, column, k, side):
    middle = yield "the middle of the cell", add, torch.tensor([column, row], dtype=location.dtype), 0.5
    cells = yield "the distance in cells", sub, middle, 4
    cell = yield "the width of a cell", pow, 2, k
    pixels = yield "the distance in pixels", mul, cells, cell
    pixel = yield "the width of a pixel", truediv, 2, side
    move = yield "the move", mul, pixels, pixel
    new = yield "the next location", add, location, move
    return new


CELL, PIXELS = "the width of a cell", "the distance in pixels"
task.changed_each(
    ("location_rounded_down", "You round the location down to the corner of a pixel. A location may be anywhere in a pixel: add the move to the location itself.", {"location": lambda location, *, side: torch.floor((location + 1) / 2 * side + 1e-4) * 2 / side - 1}),
    ("kept_in_the_picture", "You clamp the result to between -1 and 1. The middle of a cell may be outside the picture: return where it is.", {"result": lambda new: new.clamp(-1, 1)}),
    ("row_for_x", "You use the row for x and the column for y. A column says how far to the right a cell is, so it gives x, and the row gives y.", {"row": lambda row, *, column: column, "column": lambda column, *, row: row}),
    ("y_first", "You return y before x. A location is (x, y): the column's coordinate comes first.", {"result": lambda new: new.flip(0)}),
    ("y_upwards", "Your y moves in the wrong direction. y increases downwards here, as the rows do: a cell below the middle has a larger y.", {PIXELS: lambda cells, cell: cells * cell * torch.tensor([1, -1])}),
    ("corner_of_the_cell", "You move to the upper left corner of the cell. The middle of the cell is half a cell further: add 0.5 to the row and to the column.", {"the middle of the cell": left_out}),
    ("half_a_cell_too_far", "You move half a cell too far to the right and down. The middle of the cell is at column + 0.5, and the middle of the patch at 4, between cells 3 and 4.", {"the middle of the cell": lambda cell, half: cell + 1}),
    ("cell_as_a_pixel", "You treat each cell as one pixel. A cell of patch k is 2 to the power of k pixels wide.", {CELL: lambda two, k: 1}),
    ("two_times_k", "You use 2 · k pixels as the width of a cell. The width is 2 to the power of k: in patch 0 a cell is 1 pixel wide, and in patch 3 it is 8 pixels wide.", {CELL: mul}),
    ("width_of_1", "You move half as far as you should. x goes from -1 to 1, so the whole picture is 2 wide, and a pixel 2 / side.", {"the width of a pixel": lambda two, side: 1 / side}),
    ("patch_as_the_picture", "You treat the patch as the whole picture: in your code, its cells go from -1 to 1. But x goes from -1 to 1 over `side` pixels, so a pixel is 2 / side wide.", {"the width of a pixel": lambda two, side, *, k: 2 / (8 * 2**k)}),
)  # fmt: skip
