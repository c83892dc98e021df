"""Sequences of random bits to be copied, copied several times, or recalled, as in Graves et al. 2014, section 4.

Here: what a machine is given at each step, and what it should say at the last steps. Not here: the machine (`models/turing.py`).

Shape letters: B sequences, T steps, S steps at which an answer is wanted.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.base.errors import CourseError

BITS = 6  # of each vector of a sequence
MARKS = 2  # further inputs: a delimiter, and the end or the number of repeats
GIVEN, WANTED = BITS + MARKS, BITS  # how many numbers are read and returned at each step


class Asked(NamedTuple):
    """What is given at each step, B×T×GIVEN, and what should be said at the last S steps, B×S×WANTED."""

    given: Tensor
    wanted: Tensor


def copy(draw: torch.Generator, batch=32, shortest=1, longest=10) -> Asked:
    """Vectors, a delimiter, then silence in which the vectors should be returned in order."""
    return repeat_copy(draw, batch, shortest, longest, most=1)


def repeat_copy(draw: torch.Generator, batch=32, shortest=1, longest=10, most=5) -> Asked:
    """Vectors, and with the delimiter a number from 1 to `most` (given as a tenth of it): how often they should be returned."""
    length = _draw_whole(draw, shortest, longest)
    times = _draw_whole(draw, 1, most)
    vectors = _draw_bits(draw, batch, length)
    given = torch.zeros(batch, length * (1 + times) + 1, GIVEN)
    given[:, :length, :BITS] = vectors
    given[:, length, BITS] = 1.0
    given[:, length, BITS + 1] = times / 10
    return Asked(given, vectors.repeat(1, times, 1))


def recall(draw: torch.Generator, batch=32, fewest=2, most=6) -> Asked:
    """Different vectors, a delimiter before each; then one of them again between two marks: the vector that followed it is wanted."""
    items = _draw_whole(draw, fewest, most)
    if not 2 <= items <= 2**BITS:
        raise CourseError(f"there are 2 to {2**BITS} different vectors to recall, not {items}")
    numbers = torch.rand(batch, 2**BITS, generator=draw).argsort(1)[:, :items]
    vectors = (numbers[..., None] >> torch.arange(BITS) & 1).float()  # B items BITS
    which = torch.randint(items - 1, (batch,), generator=draw)
    given = torch.zeros(batch, 2 * items + 4, GIVEN)
    given[:, 0 : 2 * items : 2, BITS] = 1.0
    given[:, 1 : 2 * items : 2, :BITS] = vectors
    rows = torch.arange(batch)
    given[:, [2 * items, 2 * items + 2], BITS + 1] = 1.0
    given[:, 2 * items + 1, :BITS] = vectors[rows, which]
    return Asked(given, vectors[rows, which + 1][:, None])


def _draw_whole(draw, least, most):
    if not 1 <= least <= most:
        raise CourseError(f"lengths must be at least 1 and in order, not {least} to {most}")
    return int(torch.randint(least, most + 1, (), generator=draw))


def _draw_bits(draw, *shape):
    return torch.randint(2, (*shape, BITS), generator=draw).float()
