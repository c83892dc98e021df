"""Scenes of digits and shapes, with captions that name them from left to right, and where each of them is.

Here: the scenes, and single things to learn from. Not here: what describes them (`models/captions.py`).

A scene has 50×50 pixels, in 5×5 cells of 10×10. Cells are numbered row by row, from 0 to 24.

Shape letters: N scenes, T words with EOS, C cells.
"""

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.data.digit_fields import SIDE, digits_of
from course_utils.data.subwords import BOS, EOS, PAD

GRID, CELL = 5, 10  # cells along a side, and pixels along a cell's
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SHAPES = {
    "square": ("########", "#......#", "#......#", "#......#", "#......#", "#......#", "#......#", "########"),
    "cross": ("...##...", "...##...", "...##...", "########", "########", "...##...", "...##...", "...##..."),
    "triangle": ("...##...", "...##...", "..####..", "..####..", ".######.", ".######.", "########", "########"),
    "frame": ("########", "########", "##....##", "##....##", "##....##", "##....##", "########", "########"),
}
THINGS = (*DIGITS, *SHAPES)
RELATIONS = ("above", "beside", "below")
WORDS = ("", "BOS", "EOS", "a", *RELATIONS, *THINGS)  # by id; the first one is padding
assert (PAD, BOS, EOS) == (0, 1, 2)
FIRST = WORDS.index("zero")  # the id of the first thing


class Scenes(NamedTuple):
    """Scenes and all that is known about them. `true` holds the cell of the thing that a word names, and 0 where `named` is False."""

    images: Tensor  # N 50 50, from 0 to 1
    given: Tensor  # N T, ids of what a decoder reads, BOS first
    wanted: Tensor  # N T, ids of what it should say, EOS last
    true: Tensor  # N T
    named: Tensor  # N T, True if the wanted word names a thing

    def caption(self, number: int) -> str:
        """Return the correct caption of a scene."""
        return say(self.wanted[number])


def say(ids) -> str:
    """Return ids as words, without PAD, BOS and EOS."""
    return " ".join(WORDS[i] for i in torch.as_tensor(ids).tolist() if i > EOS)


def things(number: int, draw: torch.Generator, part="train") -> tuple[Tensor, Tensor]:
    """Return pictures of a single thing each, N×10×10, and which they are, N, as places in `THINGS`."""
    which = torch.randint(len(THINGS), (number,), generator=draw)
    images = torch.zeros(number, CELL, CELL)
    for row, (kind, down, across) in enumerate(zip(which.tolist(), *_draw_shifts(number, draw), strict=True)):
        images[row, down : down + SIDE, across : across + SIDE] = _thing_picture(kind, draw, part)
    return images, which


def scenes(number: int, draw: torch.Generator, part="train", fewest=2, most=4) -> Scenes:
    """Return scenes of some things in different columns, and their captions, such as "a seven above a cross beside a two".

    A relation says where the thing before it is relative to the one after it: "above" if its cell is in a higher row.

    Args:
        number: of scenes, N.
        draw: the random generator.
        part: "train" or "test": which handwritten digits to use.
        fewest, most: things in a scene, 1 to 5.

    Raises:
        CourseError: for any other number of things, or an unknown part.
    """
    if not 1 <= fewest <= most <= GRID:
        raise CourseError(f"a scene can have 1 to {GRID} things, one in each column, not {fewest} to {most}")
    images = torch.zeros(number, GRID * CELL, GRID * CELL)
    captions, cells = [], []
    counts = torch.randint(fewest, most + 1, (number,), generator=draw).tolist()
    for image, count in zip(images, counts, strict=True):
        columns = torch.randperm(GRID, generator=draw)[:count].sort().values.tolist()
        rows = torch.randint(GRID, (count,), generator=draw).tolist()
        kinds = torch.randint(len(THINGS), (count,), generator=draw).tolist()
        for kind, row, column, down, across in zip(kinds, rows, columns, *_draw_shifts(count, draw), strict=True):
            top, left = CELL * row + down, CELL * column + across
            image[top : top + SIDE, left : left + SIDE] = _thing_picture(kind, draw, part)
        captions.append(_caption(kinds, rows))
        cells.append([GRID * row + column for row, column in zip(rows, columns, strict=True)])
    return _with_captions(images, captions, cells)


def _thing_picture(kind, draw, part):
    """Return 8×8 pixels of a thing, by its place in `THINGS`; handwritten digits differ each time."""
    pictures = _thing_pictures(kind, part)
    return pictures[torch.randint(len(pictures), (), generator=draw)] if kind < len(DIGITS) else pictures[0]


@cache
def _thing_pictures(kind, part):
    """Return all pictures of a thing, N×8×8: one of a shape, many of a digit."""
    if kind >= len(DIGITS):
        return torch.tensor([[[float(pixel == "#") for pixel in row] for row in SHAPES[THINGS[kind]]]])
    images, labels = digits_of(part)
    return images[labels == kind]


def _draw_shifts(number, draw):
    """Return how far things are below and to the right of their cells' corners."""
    return torch.randint(CELL - SIDE + 1, (2, number), generator=draw).tolist()


def _caption(kinds, rows):
    words = []
    for i, kind in enumerate(kinds):
        if i:
            words.append(RELATIONS[1 + (rows[i - 1] > rows[i]) - (rows[i - 1] < rows[i])])
        words += ["a", THINGS[kind]]
    return [WORDS.index(word) for word in words]


def _with_captions(images, captions, cells):
    longest = 1 + max(map(len, captions), default=0)
    given, wanted = (torch.full((len(captions), longest), PAD) for _ in range(2))
    true = torch.zeros_like(given)
    for row, (words, places) in enumerate(zip(captions, cells, strict=True)):
        given[row, : len(words) + 1] = torch.tensor([BOS, *words])
        wanted[row, : len(words) + 1] = torch.tensor([*words, EOS])
        true[row, : len(words)][wanted[row, : len(words)] >= FIRST] = torch.tensor(places)
    return Scenes(images, given, wanted, true, wanted >= FIRST)
