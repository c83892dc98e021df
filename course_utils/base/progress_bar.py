"""Shows the progress of long work: a bar in a terminal or a notebook, and a line now and then elsewhere, such as in a log."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

SECONDS = 10  # at least, between two lines
PATIENCE = 2  # seconds that a notebook's cell computes before it shows a bar
_cell = {"number": None, "began": 0.0}  # of a notebook: the last one that asked for a bar, and when it first did


def _notebook_shell():
    """Return the shell of the notebook in which this runs, or None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell if hasattr(shell, "kernel") else None


def with_bar(steps: Iterable) -> Iterable:
    """Return the steps of a training run, which show a bar once a notebook's cell has computed for two seconds.

    The bar disappears when training ends. There is none outside a notebook or if the environment sets TQDM_DISABLE.
    """
    shell = _notebook_shell()
    if shell is None:
        return steps
    from tqdm import tqdm

    now = time.monotonic()
    if _cell["number"] != shell.execution_count:
        _cell.update(number=shell.execution_count, began=now)
    delay = max(0.0, _cell["began"] + PATIENCE - now)
    return tqdm(steps, delay=delay, leave=False, file=sys.stdout, unit="step")


@contextmanager
def shown_while_waiting(line: str) -> Iterator[None]:
    """Show a line below a notebook's cell while the body runs, once it has run for two seconds; none where `with_bar` shows no bar."""
    if _notebook_shell() is None or os.environ.get("TQDM_DISABLE"):
        yield
        return
    written, stdout = threading.Event(), sys.stdout  # the present one, as the body may redirect it

    def write():
        written.set()
        print(line, end="", file=stdout, flush=True)

    timer = threading.Timer(PATIENCE, write)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may have begun to write
        if written.is_set():
            print("\r" + " " * len(line) + "\r", end="", file=stdout, flush=True)


@contextmanager
def shown_steps(done: str, unit: str, total: int) -> Iterator[Callable[[], object]]:
    """Yield a function to call after each step of some work.

    Args:
        done: what a step has done, such as "Graded".
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
