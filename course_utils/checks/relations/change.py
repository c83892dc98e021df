"""What every kind of relation consists of: a change, whether it can be said, and for which kind of numbers it makes sense."""

import re
from collections.abc import Callable
from typing import NamedTuple

import torch


class Change(NamedTuple):
    """One change of a value.

    `often`: learners make it often, so it may be named as one of two mistakes.
    `instead`: its text already says what it replaces.
    """

    text: str
    function: Callable
    often: bool = False
    instead: bool = False


WORDS_AT_MOST = 18  # so that the sentence around it, "In every case, you return what …", has at most 28


def is_readable(text: str) -> bool:
    """Return whether a person would say it: in a short sentence, with a letter for each axis and not a number."""
    return len(text.split()) <= WORDS_AT_MOST and not re.search(r"\baxis \d", text)


# Kinds of numbers: nobody takes the sigmoid of a mask, or the signs of a count.
TRUTH, WHOLE, POSITIVE, REAL = "truth values", "whole numbers", "numbers from 0 on", "numbers of either sign"
INFINITE = "scores, -inf where they are masked"
NUMBERS = {WHOLE, POSITIVE, REAL}
FRACTIONS = {POSITIVE, REAL}
ANY = {TRUTH, INFINITE, *NUMBERS}


def kind_of(tensor: torch.Tensor) -> str:
    """Return which kind of numbers a tensor holds, as far as its entries show it."""
    if tensor.dtype == torch.bool:
        return TRUTH
    if not tensor.isfinite().all():
        return INFINITE
    if not tensor.is_floating_point() or bool((tensor == tensor.round()).all()):
        return WHOLE
    return POSITIVE if bool((tensor >= 0).all()) else REAL
