"""What one submission may cost, and how its time is spent."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CELLS_SHARE = (0.5, 0.75)  # of a notebook's time: slow cells may use the first share, all cells together the second
SLICE = 0.1  # of a cell's usual seconds: what it gets once slow cells have used their share
RERUN_AT_LEAST = 0.01  # of a cell's usual seconds: the least it gets when it runs again
BRIEF = 0.1  # seconds for a cell that runs again before a few candidates are judged
LOAD_AT_MOST = 20  # times as long by the clock as on a quiet machine


def load_factor() -> float:
    """Return how many times as long by the clock a process takes because others compete for the processors: 1 on a quiet machine."""
    cores = os.cpu_count() or 1
    try:
        running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        running = 1
    return min(max(1.0, (running + 1) / cores, os.getloadavg()[0] / cores), LOAD_AT_MOST)


@dataclass(frozen=True)
class Limits:
    """What one submission may cost. Seconds are of computing, that is, by the clock of a quiet machine."""

    seconds: float = 10.0  # for a cell, and for all calls of an answer, as in a notebook
    whole: float = 40.0  # for the whole notebook: every cell and every answer, each time it runs
    memory: int = 3 * 2**28  # bytes on top of what Python and PyTorch use
    processes: int = 8  # started after one has died

    @classmethod
    def from_settings(cls, limits: dict[str, float]) -> "Limits":
        """Return the limits in the instructor's file: `seconds`, `total` seconds, and `memory` in megabytes."""
        default = cls()
        memory = int(limits["memory"] * 10**6) if "memory" in limits else default.memory
        return cls(limits.get("seconds", default.seconds), limits.get("total", default.whole), memory)

    @property
    def cpu_seconds(self) -> int:
        """CPU time of one process: a notebook's and, for the second draw, what is free."""
        return int(self.whole + self.seconds) + 1


class TimeBudget:
    """One notebook's time: how much is left, and how long a cell may take so that the cells and answers below it get some."""

    def __init__(self, limits: Limits):
        self.slow = set()  # cells that ran out of time
        self._limits, self._first_runs = limits, {}  # {cell: seconds that it took when it first ran}
        self._spent = self._spent_on_first_runs = 0.0
        self._spent_free, self._free = {}, ""  # {what for: seconds}, and what the body that runs is free for

    @property
    def left(self) -> float:
        """Seconds that the notebook has left."""
        return self._limits.whole - self._spent

    @property
    def used(self) -> float:
        """Seconds that have been used, free ones included."""
        return self._spent + sum(self._spent_free.values())

    def has_run(self, cell: int) -> bool:
        """Return whether a cell has run before."""
        return cell in self._first_runs

    @contextmanager
    def measured(self, cell: int | None = None) -> Iterator[float]:
        """Charge the seconds that the body takes, which may run a cell. Yields the load factor, by which the body may take longer."""
        began, load = time.monotonic(), load_factor()
        try:
            yield load
        finally:
            seconds = (time.monotonic() - began) / max(load, load_factor())
            self._charge(seconds)
            if cell is not None and not self.has_run(cell):
                self._first_runs[cell] = seconds
                self._spent_on_first_runs += seconds

    def settle(self, used_before: float, computed: float) -> None:
        """Charge what a process has computed beyond what was charged since `used` was `used_before`: a load factor may be too high."""
        self._charge(max(0.0, computed - (self.used - used_before)))

    def _charge(self, seconds):
        free = min(seconds, self.free_for(self._free)) if self._free else 0.0
        if free:
            self._spent_free[self._free] = self._spent_free.get(self._free, 0.0) + free
        self._spent += seconds - free

    def free_for(self, purpose: str) -> float:
        """Return how many seconds are still free for a purpose: of each, one answer's seconds in all."""
        return self._limits.seconds - self._spent_free.get(purpose, 0.0)

    @contextmanager
    def free(self, purpose: str) -> Iterator[None]:
        """Charge the notebook nothing for what runs in the body, as long as seconds are free for its purpose."""
        self._free = purpose
        try:
            yield
        finally:
            self._free = ""

    def seconds_for(self, cell: int, rerun_at_most: float, brief: bool = False) -> float:
        """Return how long a cell may take, so that time is left for the cells and answers below it.

        A rerun may take a little over twice the first run's time and at most `rerun_at_most`; if it is `brief`, BRIEF seconds.
        """
        least = SLICE * self._limits.seconds
        if cell in self.slow:
            return min(least, self.left)
        if brief and self.has_run(cell):
            return BRIEF
        if self.has_run(cell):
            return min(least + 2 * self._first_runs[cell], rerun_at_most, self.left)
        slow, all_cells = (share * self._limits.whole - self._spent_on_first_runs for share in CELLS_SHARE)
        return min(max(least, min(self._limits.seconds, slow)), all_cells, self.left)

    def rerun_at_most(self, left_out: set[int]) -> float:
        """Return how long each cell may take when all but those left out run again: they share half of the time that is left.

        Cells that need less than an equal share leave the rest of it to the others, so only slow ones are cut short.
        """
        left = CELLS_SHARE[0] * self.left
        took = sorted(seconds for cell, seconds in self._first_runs.items() if cell not in left_out)
        for before, seconds in enumerate(took):
            share = left / (len(took) - before)
            if seconds > share:
                return max(share, RERUN_AT_LEAST * self._limits.seconds)
            left -= seconds
        return self._limits.seconds
