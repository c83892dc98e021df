"""Shows how far long work has come: a bar on a terminal, and elsewhere, such as in a log, a line now and then."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS = 30  # at least, between two lines


@contextmanager
def shown_steps(done: str, unit: str, total: int) -> Iterator[Callable[[], object]]:
    """Give a function to call after each step of some work.

    Args:
        done: what has been done in a step, such as "Graded".
        unit: what is counted, in the plural, such as "files".
        total: how many steps there are.
    """
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(desc=done, unit=f" {unit}", total=total) as bar:
            yield bar.update
        return
    began = last = time.monotonic()
    count = 0

    def step():
        nonlocal count, last
        count, now = count + 1, time.monotonic()
        if now - last >= SECONDS:
            last = now
            print(f"{done} {count:,} of {total:,} {unit} in {now - began:.0f} seconds.", file=sys.stderr, flush=True)

    yield step
