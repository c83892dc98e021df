"""Task 14.corner: from a location between -1 and 1 to the pixel at which a patch begins."""

from math import floor
from operator import add, floordiv, mul, sub, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_14._places import between_edges
from course_utils.tasks.shares import EDGE, SIDE_EFFECT

task = Task(
    "14.corner",
    "the pixel at which a patch begins",
    arguments=("location B×2", "height", "width", "side"),
    result=("top B", "left B"),
    difficulty=2,
    importance=3,
    minutes=15,
    hints=(
        "A location says which share of the way across the image to go, in numbers from -1 to 1. First turn it into a share from 0 to 1, then into a pixel, and only then think of the patch: the pixel stands in its middle, and the patch begins half a side before it.",
        (
            "Take an image of 6 by 10 pixels (height 6, width 10), a patch of side 4 and the location (0.3, -0.9). Across, (0.3 + 1) / 2 = 0.65 of the width 10 is 6.5, which lies in pixel 6; half of the side is 2, so left is 4. "
            "Down, (-0.9 + 1) / 2 = 0.05 of the height 6 is 0.3, which lies in pixel 0, and top is -2: two rows of the patch lie above the image. With a patch of side 3 half of the side is 1, as // gives it, and the corner is (-1, 5)."
        ),
        "x, y = the two columns of location; column = (x + 1) / 2 times width, rounded down to a whole number; row = (y + 1) / 2 times height, rounded down likewise; half = side // 2; return row minus half and column minus half, in this order, as whole numbers.",
    ),
    partial=EDGE
    | SIDE_EFFECT
    | {
        "kept_in_the_last_pixel": (
            0.75,
            "right for every location but those on the right and lower edge of the image.",
        ),
    },
)


@task.property
def the_upper_left_location_gives_the_first_pixel(case, value):
    """The location (-1, -1) stands in pixel (0, 0)."""
    location, _, _, side = case.args
    first = (location == -1).all(1)
    if not first.any():
        return None
    row = int(first.int().argmax())
    top, left = value[0][row].item(), value[1][row].item()
    if (top, left) == (-(side // 2), -(side // 2)):
        return None
    return f"The location (-1, -1) is the upper left pixel (0, 0), and a patch of side {side} begins {side // 2} before it, at ({-(side // 2)}, {-(side // 2)}); yours begins at ({top}, {left})."


# B, height, width, side: two locations first, so that both roundings show, then one longer at a time, then all
LADDER = ((2, 4, 6, 2), (3, 4, 6, 2), (2, 5, 6, 2), (2, 4, 7, 2), (2, 4, 6, 3), (5, 7, 11, 3))


@task.cases
def _(draw):
    for B, height, width, side in LADDER:
        name = f"{count(B, 'location')}, {height}×{width} pixels, side {side}"
        yield Case(name, (between_edges(draw, B, height, width), height, width, side))
    yield Case("13 locations on a wide image", (between_edges(draw, 13, 17, 29), 17, 29, 8))
    yield Case("an image as high as it is wide", (between_edges(draw, 5, 11, 11), 11, 11, 5))
    yield Case("a patch that is larger than the image", (between_edges(draw, 3, 5, 7), 5, 7, 12))
    yield Case("a patch of one pixel", (between_edges(draw, 3, 5, 7), 5, 7, 1), edge=True)
    yield Case("an image of one pixel", (between_edges(draw, 2, 1, 1), 1, 1, 2), edge=True)
    ends = torch.tensor([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [-1.0, 1.0], [1.0, 0.0]])[draw.distinct(5, 0, 5)]
    yield Case("corners and centre of the image", (ends, 6, 10, 3), edge=True)
    yield Case("a single location", (between_edges(draw, 1, 5, 7), 5, 7, 2), edge=True)
    yield Case("200 locations", (between_edges(draw, 200, 13, 23), 13, 23, 7), edge=True)
    yield Case("float64 numbers", (between_edges(draw, 5, 7, 11, torch.float64), 7, 11, 3), edge=True)


@task.oracle
def _(location, height, width, side):
    top, left = [], []
    for x, y in location.tolist():
        top.append(floor((y + 1) * height / 2) - side // 2)
        left.append(floor((x + 1) * width / 2) - side // 2)
    return torch.tensor(top), torch.tensor(left)


@task.steps
def _(location, height, width, side):
    moved = yield "location plus 1", add, location, 1
    share = yield "the share of the image", truediv, moved, 2
    sizes = torch.tensor([width, height], dtype=location.dtype)
    place = yield "the place between pixels", mul, share, sizes
    pixel = yield "the pixel", torch.floor, place
    half = yield "half of the side", floordiv, side, 2
    start = yield "the start of the patch", sub, pixel, half
    left, top = start.long().unbind(-1)
    return top, left


# A right corner, of which mistakes change one part


def _corner(
    place=lambda along, size: (along + 1) / 2 * size,
    round_down=torch.floor,
    start=lambda pixel, side, size: pixel - side // 2,
    coordinates=lambda location: (location[:, 0], location[:, 1]),
    sizes=lambda height, width: (width, height),
    returned=lambda top, left: (top.long(), left.long()),
):
    def corner(location, height, width, side):
        (x, y), (of_x, of_y) = coordinates(location), sizes(height, width)
        left, top = (start(round_down(place(c, size)), side, size) for c, size in ((x, of_x), (y, of_y)))
        return returned(top, left)

    return corner


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(_corner(**parts))


# From a location to a pixel

_mistake(
    "not_shifted",
    "The location (0, 0) lands in pixel (0, 0), where it should be the centre of the image: 1 has to be added before you divide by 2, so that -1 becomes 0 and 1 becomes 1.",
    place=lambda along, size: along / 2 * size,
)
_mistake(
    "not_shifted_nor_halved",
    "You multiply the location by the size as it is, so that half of all locations lie before the image and the others reach across the whole of it. Bring it from the range of -1 to 1 to that of 0 to 1 first.",
    place=lambda along, size: along * size,
)
_mistake(
    "shifted_after_halving",
    "You add 1 after you have divided by 2, so that the locations become numbers from 0.5 to 1.5. Add 1 first, with brackets around the sum.",
    place=lambda along, size: (along / 2 + 1) * size,
)
_mistake(
    "not_halved",
    "Your pixels are twice as far from the upper left corner as they should be: location plus 1 runs from 0 to 2. Divide it by 2.",
    place=lambda along, size: (along + 1) * size,
)
_mistake(
    "subtracted",
    "You subtract the location from 1, so that the image is mirrored: -1 is the left edge of the image and its upper one. Add 1 to the location.",
    place=lambda along, size: (1 - along) / 2 * size,
)
_mistake(
    "size_minus_one",
    "You multiply by the size minus 1. That puts -1 and 1 in the middle of the first and the last pixel; here they are the edges of the image, so multiply by the size itself.",
    place=lambda along, size: (along + 1) / 2 * (size - 1),
)
_mistake(
    "half_a_pixel_off",
    "You subtract half a pixel before you round down, so that a place in the left half of a pixel counts for the pixel before. Round the place down as it is.",
    place=lambda along, size: (along + 1) / 2 * size - 0.5,
)
_mistake(
    "y_upwards",
    "Your y points upwards, as in a plot. In an image rows are counted from above: y = -1 is the upper edge.",
    coordinates=lambda location: (location[:, 0], -location[:, 1]),
)
_mistake(
    "coordinates_exchanged",
    "You take the first number of a location for y and the second for x. A location is (x, y): x says how far to the right, y how far down.",
    coordinates=lambda location: (location[:, 1], location[:, 0]),
)
_mistake(
    "sizes_exchanged",
    "You multiply x by the height and y by the width, which is right for square images alone. x runs along the width.",
    sizes=lambda height, width: (height, width),
)
_mistake(
    "width_for_both",
    "You multiply both x and y by the width, which is right for square images alone. y runs along the height.",
    sizes=lambda height, width: (width, width),
)
_mistake(
    "height_for_both",
    "You multiply both x and y by the height, which is right for square images alone. x runs along the width.",
    sizes=lambda height, width: (height, height),
)
_mistake(
    "first_location_for_all",
    "All images get the corner of the first location. Each has a location of its own.",
    coordinates=lambda location: (location[:1, 0].expand(len(location)), location[:1, 1].expand(len(location))),
)

# Rounding

_mistake(
    "rounded",
    "You round to the nearest whole number, so that a place in the right half of a pixel counts for the next pixel. Round down: place 2.75 lies in pixel 2.",
    round_down=torch.round,
)
_mistake(
    "rounded_up",
    "You round up. A place lies in the pixel that begins before it: round down, so that place 2.75 lies in pixel 2.",
    round_down=torch.ceil,
)
_mistake(
    "half_a_side_with_its_fraction",
    "For an odd side you subtract half a pixel too much before you round down: `side / 2` is 1.5 for a side of 3, and `side // 2` is 1. Round the place down first, and then subtract side // 2.",
    round_down=lambda place: place,
    start=lambda pixel, side, size: (pixel - side / 2).floor(),
)
_mistake(
    "half_a_side_cut_off",
    "You subtract half of the side with its fraction and cut off the digits after the decimal point. For an odd side that is half a pixel too much, and below 0 it rounds towards 0, which is up. Round the place down first, and then subtract side // 2.",
    round_down=lambda place: place,
    start=lambda pixel, side, size: (pixel - side / 2).trunc(),
)
_mistake(
    "cut_off_below_zero",
    "Where the patch begins before the image, your corner is one pixel too far: `.long()` and `int` cut off the digits after the decimal point, so -1.5 becomes -1. Round the place down before you subtract half of the side, or use floor.",
    round_down=lambda place: place,
    start=lambda pixel, side, size: (pixel - side // 2).trunc(),
)
_mistake(
    "not_rounded",
    "You return places with fractions. A patch begins at a whole pixel: round down, and return whole numbers, as `.long()` makes them.",
    round_down=lambda place: place,
    returned=lambda top, left: (top, left),
)
_mistake(
    "floats",
    "The numbers are right, but they are floating-point numbers, with which nothing can be indexed. Turn them into whole numbers with `.long()`.",
    returned=lambda top, left: (top, left),
)

# From the pixel to the corner

_mistake(
    "centre_returned",
    "You return the pixel in the middle of the patch. Half of the side is to be subtracted: the patch begins before it.",
    start=lambda pixel, side, size: pixel,
)
_mistake(
    "whole_side_subtracted",
    "You subtract the whole side. The location is the middle of the patch, so subtract half of it.",
    start=lambda pixel, side, size: pixel - side,
)
_mistake(
    "half_a_side_added",
    "You add half of the side, which gives the lower right end of the patch. Its upper left corner lies before the middle: subtract.",
    start=lambda pixel, side, size: pixel + side // 2,
)
_mistake(
    "half_rounded_up",
    "For an odd side your patch begins one pixel too early: half of the side is rounded up. Use side // 2, which rounds down.",
    start=lambda pixel, side, size: pixel - (side + 1) // 2,
)
_mistake(
    "half_of_side_minus_one",
    "For an even side your patch begins one pixel too late: you take half of side - 1. Use side // 2.",
    start=lambda pixel, side, size: pixel - (side - 1) // 2,
)
_mistake(
    "kept_inside",
    "You move patches so that they lie within the image. Near the border a patch reaches beyond it, and its corner may be negative: leave it where it is.",
    start=lambda pixel, side, size: (pixel - side // 2).clamp(max=size - side).clamp(min=0),
)
_mistake(
    "not_below_zero",
    "Negative numbers become 0. Near the upper and the left border a patch begins before the image: leave its corner negative.",
    start=lambda pixel, side, size: (pixel - side // 2).clamp(min=0),
)
_mistake(
    "wrapped",
    "Corners before the image come back from its other end, as `%` does it. Near the border a patch begins before the image: leave its corner negative.",
    start=lambda pixel, side, size: (pixel - side // 2) % size,
)
_mistake(
    "kept_in_the_last_pixel",
    "You turn a location of exactly 1 into the last pixel. By the formula it is the pixel behind it, since (1 + 1) / 2 times the size is the size itself: leave it there.",
    start=lambda pixel, side, size: pixel.clamp(max=size - 1) - side // 2,
)

# What is returned

_mistake(
    "order_exchanged",
    "You return left first and top second. Return top first, as rows come first in an image's shape.",
    returned=lambda top, left: (left.long(), top.long()),
)
_mistake(
    "in_one_tensor",
    "You return both in one tensor, B×2. Return two tensors, top and left, each with B numbers.",
    returned=lambda top, left: torch.stack([top, left], 1).long(),
)
_mistake(
    "axis_kept",
    "Top and left have an axis of size 1 too many: B×1. Return B numbers each.",
    returned=lambda top, left: (top.long()[:, None], left.long()[:, None]),
)
