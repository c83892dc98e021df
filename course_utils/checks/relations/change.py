"""What every kind of relation consists of: a change, and how it is told."""

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
