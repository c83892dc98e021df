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
GIVEN, WANTED = BITS + MARKS, BITS  # how many numbers go in and come out at each step


class Asked(NamedTuple):
    """What is given at each step, B×T×GIVEN, and what should be said at the last S steps, B×S×WANTED."""

    given: Tensor
    wanted: Tensor


def copy(draw: torch.Generator, batch=32, shortest=1, longest=10) -> Asked:
    """Vectors, a delimiter, then silence in which the vectors should come back in their order."""
    return repeat_copy(draw, batch, shortest, longest, most=1)


def repeat_copy(draw: torch.Generator, batch=32, shortest=1, longest=10, most=5) -> Asked:
    """Vectors, and with the delimiter a number from 1 to `most` (given as a tenth of it): how often they should come back."""
    length = _between(draw, shortest, longest)
    times = _between(draw, 1, most)
    vectors = _bits(draw, batch, length)
    given = torch.zeros(batch, length * (1 + times) + 1, GIVEN)
    given[:, :length, :BITS] = vectors
    given[:, length, BITS] = 1.0
    given[:, length, BITS + 1] = times / 10
    return Asked(given, vectors.repeat(1, times, 1))


def recall(draw: torch.Generator, batch=32, fewest=2, most=6, length=1) -> Asked:
    """Items of `length` vectors, a delimiter before each; then one of them again between two marks: the next one is wanted."""
    items = _between(draw, fewest, most)
    vectors = _bits(draw, batch, items * length).view(batch, items, length, BITS)
    which = torch.randint(items - 1, (batch,), generator=draw)
    given = torch.zeros(batch, items * (length + 1) + 2 * length + 2, GIVEN)
    shown = given[:, : items * (length + 1)].view(batch, items, length + 1, GIVEN)
    shown[:, :, 0, BITS] = 1.0
    shown[:, :, 1:, :BITS] = vectors
    rows, start = torch.arange(batch), items * (length + 1)
    given[:, [start, start + length + 1], BITS + 1] = 1.0
    given[:, start + 1 : start + 1 + length, :BITS] = vectors[rows, which]
    return Asked(given, vectors[rows, which + 1])


def _between(draw, least, most):
    if not 1 <= least <= most:
        raise CourseError(f"lengths must be at least 1 and in order, not {least} to {most}")
    return int(torch.randint(least, most + 1, (), generator=draw))


def _bits(draw, *shape):
    return torch.randint(2, (*shape, BITS), generator=draw).float()
