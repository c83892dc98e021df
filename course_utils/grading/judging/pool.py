"""Worker processes on this machine: each grades one notebook at a time; if one dies, nothing is lost.

A worker belongs to the trusted side: it judges. It is a process because judging takes a core, and because a notebook
that brings it down, though none should, must cost a row and not the run.
"""

import multiprocessing
import os
import signal
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait

from course_utils.base.files import scratch
from course_utils.data.download import make_folders_absolute
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.judging.budget import Limits, load_factor
from course_utils.grading.judging.notebook_grader import Grader
from course_utils.grading.judging.sandbox_client import ServerGone
from course_utils.grading.sandbox.policy import Layers, SandboxError, limit_memory
from course_utils.grading.storage.journal import GAVE_UP
from course_utils.grading.storage.record import Result

ATTEMPTS = 3  # at a file whose worker died
SECONDS_BEYOND = 120  # a worker that takes this much longer than a notebook may is considered dead
MEMORY_OF_WORKER = 3 * 2**30  # bytes on top of what it starts with
SECONDS_TO_END = 2  # for idle workers


@dataclass(frozen=True)
class Plan:
    """What all workers grade with."""

    seed: int
    layers: Layers
    limits: Limits
    hidden: tuple[str, ...]
    unsafe: bool = False  # whether a machine without locks may grade, if there are several machines
    options_seed: int | None = None  # the seed of the order of questions' options; None: they do not count
    own_mistakes: str = "[]"  # an instructor's own, packed


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def grade_all(found: Iterable[tuple[Found, str]], plan: Plan, workers: int) -> Iterator[Result]:
    """Grade each (file, key) with this many processes; yield results as they are ready. Raises SandboxError if no sandbox can be built."""
    make_folders_absolute()  # for workers, which start in the scratch folder
    with scratch("course-grade") as folder:
        yield from _results(found, plan, workers, str(folder))


def _results(found, plan, workers, folder):
    waiting, source, members = deque(), iter(found), []
    try:
        while True:
            while len(waiting) < workers and (item := next(source, None)) is not None:
                waiting.append((item, 1))
            while len(members) < workers and len(members) < len(waiting) + sum(m.item is not None for m in members):
                members.append(_Member(plan, folder))
            for member in members:
                if member.item is None and waiting:
                    member.give(*waiting.popleft())
            busy = [member for member in members if member.item is not None]
            if not busy:
                return
            for ready in wait([member.pipe for member in busy], timeout=1.0):
                member = next(m for m in busy if m.pipe is ready)
                result = member.take()
                if isinstance(result, SandboxError):
                    raise result
                if result is not None:
                    yield result
            for member in [m for m in busy if m.dead()]:
                members.remove(member)
                # A file that takes too long is tried only once more, so that it holds up no third worker.
                again, attempt = member.item, member.attempt + 1 if member.lost else max(member.attempt + 1, ATTEMPTS)
                member.end(time.monotonic())
                if attempt <= ATTEMPTS:
                    waiting.appendleft((again, attempt))
                else:
                    yield abandoned(*again, f"{ATTEMPTS} times" if member.lost else "by taking too long")
    finally:
        for member in members:
            member.pipe.close()
        deadline = time.monotonic() + SECONDS_TO_END
        for member in members:
            member.end(deadline)


class _Member:
    """One worker process, and the file it is grading."""

    def __init__(self, plan, folder):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, plan, folder), daemon=True)
        with _interrupts_wait(), _inside(folder):
            self.process.start()
        theirs.close()
        self.item, self.attempt, self._whole = None, 0, plan.limits.whole
        self.lost = False  # whether its process has ended

    def give(self, item, attempt):
        self.item, self.attempt, self._since = item, attempt, time.monotonic()
        try:
            self.pipe.send(item)
        except OSError:
            self.lost = True

    def take(self):
        try:
            result = self.pipe.recv()
        except (EOFError, OSError):
            self.lost = True
            return None
        self.item = None
        return result

    def dead(self):
        if self.item is None or self.lost:
            return self.item is not None
        beyond = time.monotonic() - self._since - SECONDS_BEYOND
        return beyond > self._whole and beyond > self._whole * load_factor()  # on a busy machine, its limits are longer

    def end(self, deadline):
        """Close its pipe, which ends it if it is idle; otherwise kill it, at the deadline or, if it is busy, at once."""
        self.pipe.close()
        self.process.join(0 if self.item else max(0, deadline - time.monotonic()))
        self.process.kill()
        self.process.join()


@contextmanager
def _interrupts_wait():
    """Delay a Ctrl-C until the body has ended; processes started in it never get one, since the parent handles it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _inside(folder):
    """Make a folder the current one for the body. A new Python imports from there before anything else, and submissions may hold modules."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def abandoned(found: Found, key: str, how: str = f"{ATTEMPTS} times") -> Result:
    """Return the row for a file that its grader does not survive."""
    problem = (
        f"{GAVE_UP} {how}: run the same command once more, and if it stays so, look at the file and tell "
        "the course's authors."
    )
    return Result(key, found.student, found.file, "", problem)


def _work(pipe, plan, folder):
    """Grade what comes through the pipe, until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = folder  # what a killed worker leaves is removed with the grading's own folder
    import torch

    warnings.simplefilter("ignore")  # PyTorch's warnings about a learner's arguments do not belong in a terminal
    torch.set_num_threads(1)
    limit_memory(MEMORY_OF_WORKER)
    try:
        try:
            with Grader(
                plan.seed, plan.layers, plan.limits, plan.hidden, plan.options_seed, plan.own_mistakes
            ) as grader:
                while True:
                    pipe.send(grader.grade(*pipe.recv()))
        except SandboxError as error:
            pipe.send(error)
    except (EOFError, OSError, MemoryError, ServerGone):  # the parent is gone, or tries again with another worker
        os._exit(0)
