"""Digits somewhere on a larger field, with or without clutter, and where they are: what lesson 14 looks for.

Here: scikit-learn's digits, 8×8 pixels each, put on fields. Not here: the models that look (`models/glimpses.py`).
"""

from functools import cache

import torch
from torch import Tensor

from course_utils.base.errors import CourseError

SIDE = 8  # of a digit, in pixels
PIECE = 4  # side of a piece of clutter
TEST = 400  # of the 1,797 digits, the last ones


@cache
def digits() -> tuple[Tensor, Tensor]:
    """Return scikit-learn's 1,797 digits, 1797×8×8 with values from 0 to 1, and which they are, 1797."""
    # Here, because it takes a second, and every command imports the tasks of all lessons, which import this.
    from sklearn.datasets import load_digits

    found = load_digits()
    return torch.tensor(found.images, dtype=torch.float32) / 16, torch.tensor(found.target)


def digits_of(part: str) -> tuple[Tensor, Tensor]:
    """Return the digits of "train" or "test" and which they are. Raises CourseError for any other part."""
    if part not in ("train", "test"):
        raise CourseError(f"the parts are 'train' and 'test'; there is no {part!r}")
    return tuple(whole[:-TEST] if part == "train" else whole[-TEST:] for whole in digits())


def digit_fields(
    number: int, side: int, clutter: int, draw: torch.Generator, part="train"
) -> tuple[Tensor, Tensor, Tensor]:
    """Return square fields with one digit each, somewhere, and pieces of other digits strewn about.

    Args:
        number: of fields, N.
        side: of a field, in pixels, 8 at least.
        clutter: pieces of 4×4 pixels on each field, cut out of other digits; where they overlap the brighter pixel stays.
        draw: the random generator.
        part: "train" or "test": which digits to use.

    Returns:
        Fields N×side×side with values from 0 to 1; which digits, N; the rows and columns of their upper left corners, N×2.

    Raises:
        CourseError: for a field smaller than a digit, or an unknown part.
    """
    if side < SIDE:
        raise CourseError(f"a field must be at least {SIDE} pixels wide, as a digit is, not {side}")
    images, labels = digits_of(part)
    fields = torch.zeros(number, side, side)
    which = torch.randint(len(images), (number,), generator=draw)
    corners = torch.randint(side - SIDE + 1, (number, 2), generator=draw)
    _draw(fields, images[which], corners)
    for _ in range(clutter):
        other = images[torch.randint(len(images), (number,), generator=draw)]  # N 8 8
        cut = torch.randint(SIDE - PIECE + 1, (number, 2), generator=draw)
        _draw(fields, other[_squares(cut, PIECE)], torch.randint(side - PIECE + 1, (number, 2), generator=draw))
    return fields, labels[which], corners


def _draw(fields, patches, corners):
    squares = _squares(corners, patches.shape[-1])
    fields[squares] = torch.maximum(fields[squares], patches)


def _squares(corners, side):
    """Return the index of a square in each of N pictures, given its upper left corner."""
    rows, columns = (corners[:, axis, None] + torch.arange(side) for axis in (0, 1))  # N side each
    return torch.arange(len(corners))[:, None, None], rows[:, :, None], columns[:, None]
