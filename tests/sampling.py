"""How much the tests sample: the number of seeds, mutants and styles.

`course test` tries little, and the same in each run, so that a change passes or fails for what it changes. `course test --all`
tries much more: what is marked `thorough`, too, and of seeds, mutants and styles more, which are drawn anew each night. It
sets COURSE_THOROUGH to the number that they are drawn from.
"""

import os
import random
from collections import Counter
from collections.abc import Sequence

import pytest

NIGHT = os.environ.get("COURSE_THOROUGH")
TRAINS = "13.train_and_translate"  # each of its answers trains a model, for seconds
LEFT = Counter()  # how many of what is left to the thorough run, for the table at the end of a run


def tried(always: int, thoroughly: int) -> int:
    """Return how many of something are tried in this run."""
    return thoroughly if NIGHT else always


def seeds(always: int, thoroughly: int) -> list[int]:
    """Return the seeds to draw inputs from: 0, 1, … in every run, and further ones, drawn for this night, in a thorough run."""
    if NIGHT:
        return [*range(always), *random.Random(NIGHT).sample(range(1000, 2**31), thoroughly - always)]
    LEFT["seeds of inputs"] += thoroughly - always
    return list(range(always))


def usually(every: Sequence, always: int) -> list:
    """Return parameters for a test, of which so many, spread over the whole length, are tried in every run, the others in a thorough one."""
    chosen = {i * len(every) // always for i in range(always)}
    return [each if i in chosen else _thorough(each) for i, each in enumerate(every)]


def quick(every: Sequence) -> list:
    """Return parameters for a test: tasks, or tuples that begin with a task's id. Those of a task that trains are left to a thorough run."""
    ids = [each[0] if isinstance(each, tuple) else each.id for each in every]
    return [_thorough(each) if task_id == TRAINS else each for task_id, each in zip(ids, every, strict=True)]


def _thorough(parameters):
    several = parameters if isinstance(parameters, tuple) else (parameters,)
    return pytest.param(*several, marks=pytest.mark.thorough)


def some(what: str, every: Sequence, always: int, thoroughly: int) -> list:
    """Return so many of these, in their order: spread over the whole length, or drawn for this night in a thorough run."""
    many = min(tried(always, thoroughly), len(every))
    if NIGHT:
        return [every[place] for place in sorted(random.Random(NIGHT).sample(range(len(every)), many))]
    LEFT[what] += min(thoroughly, len(every)) - many
    return [every[i * len(every) // many] for i in range(many)]
