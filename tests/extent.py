"""How much is tried of what could be tried on a task without end: a part in every run, and far more with COURSE_THOROUGH=1, which takes hours.

Seeds, mutants and mistakes are spread evenly, and are the same ones in each run.
"""

import os
from collections.abc import Sequence

THOROUGH = os.environ.get("COURSE_THOROUGH") == "1"


def tried(always: int, thoroughly: int) -> int:
    """Return how many of something are tried in this run."""
    return thoroughly if THOROUGH else always


def spread(every: Sequence, many: int) -> list:
    """Return so many of these, or all of them where there are no more, from the whole length of the sequence."""
    return [every[i * len(every) // many] for i in range(many)] if len(every) > many else list(every)
