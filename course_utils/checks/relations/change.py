"""What every kind of relation consists of: a change, and whether it can be told."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Change(NamedTuple):
    """One change of a value.

    `often`: learners make it often, so it is tried together with another one, too. `picks`: it takes entries out of a tensor.
    `instead`: its text says already in place of what it comes.
    """

    text: str
    function: Callable
    often: bool = False
    picks: bool = False
    instead: bool = False


WORDS_AT_MOST = (
    16  # so that the sentence around it, "In every case, what you return is what comes out …", has at most 25
)


def can_be_said(text: str) -> bool:
    """Return whether a person would say it: in a short sentence, in which an axis goes by a letter and not by a number."""
    return len(text.split()) <= WORDS_AT_MOST and not re.search(r"\baxis \d", text)
