"""The trusted side of the sandbox: starts a learner's process, sends it requests, ends it, and trusts none of its replies.

`SandboxClient` owns one fork server. `answers` runs one notebook in it and gives, for each task, what came of it: plain values
for the judge. An answer runs right after the cell that checks it, as in the notebook, so it sees the names as they are there.
A process that dies or hangs costs the cell or the task at hand; the rest goes on in a new one.
"""

import json
import os
import secrets
import site
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import NamedTuple

from course_utils.base.files import scratch
from course_utils.checks.running.call_tracer import known_digests
from course_utils.checks.running.contract import GO_ON, Outcome, pack
from course_utils.checks.running.limit import TimeIsUp, time_limit
from course_utils.data.download import REGISTRY, cache_folder, named_mirror
from course_utils.grading.judging.offered_source import sources
from course_utils.grading.sandbox import policy, protocol
from course_utils.grading.sandbox.fork_server import ENDED, SAID_AT_MOST, STARTED
from course_utils.grading.storage.normalise import without_addresses

NO_ANSWER = ("missing", "empty", "class", "module", "callable", "value")
SECONDS_TO_START = 120  # of the server: it imports torch, perhaps from a cold disk
SECONDS_TO_OBEY = 30  # of the server, afterwards
SECONDS_TO_TAKE = 5  # of a process, for what a task is offered
CELLS_SHARE = (0.5, 0.75)  # of a notebook's time: slow cells have it up to the first, all cells up to the second
SLICE = 0.1  # of an answer's time, which a cell has then
BRIEF = 0.1  # seconds for a cell that runs again before a few candidates
GRACE = 0.8  # seconds beyond the time that a process is told to keep
BUSY_AT_MOST = 20  # times as long by the clock, on a busy machine
SENTENCE_AT_MOST = 400  # characters
SMALL = 2**17  # bytes of a reply, as right ones have: they take milliseconds at most
SECONDS_TO_UNPACK, MEMORY_TO_UNPACK = 1, 2**28  # and bytes, for a reply; right ones take a thousandth


def load_factor() -> float:
    """Return how many times as long by the clock a process takes, for all that want a processor now: 1 on a quiet machine."""
    try:
        now = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        now = 1
    return min(max(1.0, (now + 1) / (os.cpu_count() or 1), os.getloadavg()[0] / (os.cpu_count() or 1)), BUSY_AT_MOST)


@dataclass(frozen=True)
class Limits:
    """What one submission may cost."""

    seconds: float = 10.0  # for a cell and for all calls of an answer, as in a notebook: of computing, and by the clock of a quiet machine
    whole: float = 40.0  # for the whole notebook, likewise: every cell and answer, as often as it runs
    memory: int = 3 * 2**28  # bytes on top of what Python and PyTorch take
    processes: int = 8  # begun anew after a death

    @classmethod
    def from_settings(cls, limits: dict[str, float]) -> "Limits":
        """From the instructor's file: `seconds`, `total` seconds, and `memory` in megabytes."""
        default = cls()
        memory = int(limits["memory"] * 10**6) if "memory" in limits else default.memory
        return cls(limits.get("seconds", default.seconds), limits.get("total", default.whole), memory)

    @property
    def cpu_seconds(self) -> int:
        """CPU time of one process."""
        return int(self.whole) + 1


class Single(NamedTuple):
    """One case of a test over candidates, which runs again by itself."""

    number: int  # of the case
    cases: bytes  # this one alone, packed
    candidate: Callable  # calls the candidate in it, and no other


class Again(NamedTuple):
    """What runs by itself of a test over candidates, before it meets them all: each group in a process of its own."""

    verdicts: list[bool | None] = []  # the right ones by case, None for a candidate that does not count
    groups: list[list[Single]] = []
    first: Single | None = None  # the first case, on which it is tried before


class Wanted(NamedTuple):
    """What is asked of a notebook for one task."""

    task: str  # its id
    name: str  # of the answer
    kinds: tuple  # of object that it may be, as `kind_of_answer` tells them
    cases: bytes  # as an answer may see them, packed
    candidate: Callable | None = None  # calls a candidate
    offers: tuple = ()  # of the course's own, as a Task has them
    # Cells after which it runs: the first one, or where there is no answer yet, the next; () means after the last cell.
    places: tuple[int, ...] = ()
    checked: int = -1  # the cell among them after which that is run which `check` was given
    again: Again = Again()


@dataclass(frozen=True)
class Answer:
    """What came of one task. `state`: "missing"; a kind of `kind_of_answer`; "outcomes"; "not run", when time was used up.

    `place` is the cell after which it was run.
    """

    state: str
    shown: object = None
    outcomes: object = ()
    seconds: float = 0.0
    died: str = ""  # how its process ended, where it did
    place: int = 0

    @property
    def is_none(self) -> bool:
        """Whether there is no answer yet: nothing of its name, or a stub."""
        first = self.outcomes[0] if isinstance(self.outcomes, list) and self.outcomes else None
        return self.state in ("missing", "empty") or isinstance(first, Outcome) and first.status == "not implemented"

    @property
    def is_late(self) -> bool:
        """Whether it was stopped because its time was up."""
        last = self.outcomes[-1] if isinstance(self.outcomes, list) and self.outcomes else None
        return isinstance(last, Outcome) and last.status == "timeout"


class ServerGone(RuntimeError):
    """The fork server ended: by no learner's doing, since it is out of reach. Begin anew."""


class SandboxClient:
    """One fork server and at most one learner's process. A context manager.

    Args:
        layers: the locks to put on, from `policy.chosen`.
        limits: what a submission may cost.
        hidden: paths that may not be read in there, such as the folder of submissions.
    """

    def __init__(self, layers: policy.Layers, limits: Limits = Limits(), hidden=()):  # noqa: B008
        self.layers, self.limits, self.hidden = layers, limits, [os.path.realpath(path) for path in hidden]
        self.odd = []  # what cells and answers of the notebook at work did to their process, in sentences
        self.answered = {}  # {question's id: (answer, seed)} of the notebook at work, as its process says: short scalars
        self.left = 0.0  # seconds of its time that the notebook at work has not used
        self.peak = 0  # bytes: the largest process so far
        self._server = self._control = self._pipes = self._pid = None

    def __enter__(self):
        self._start_or_once_more()
        return self

    def __exit__(self, *_):
        self._stop_server()

    def restart(self) -> None:
        """Begin with a new fork server."""
        self._stop_server()
        self._start_or_once_more()

    def _start_or_once_more(self):
        """Start a server. What ends one that is starting, such as too little memory for a moment, mostly has passed by the second try."""
        try:
            self._start_server()
        except policy.SandboxError:
            self._start_server()

    def _start_server(self):
        mirror = named_mirror()
        data = os.path.realpath(mirror if isinstance(mirror, Path) else cache_folder())
        files = [path for name in REGISTRY if os.path.isfile(path := os.path.join(data, name))]
        try:
            ruleset = policy.rules(self.layers, self.hidden, files)
        except OSError as error:
            raise self._cannot_start(str(error)) from None
        self._kept = ExitStack()
        if ruleset is not None:
            self._kept.callback(os.close, ruleset)
        folder = self._kept.enter_context(scratch("course-grade"))
        self._control, theirs = socket.socketpair()
        settings = {
            "layers": asdict(self.layers),
            "ruleset": ruleset,
            "data": data if files else "",
            "memory": self.limits.memory,
            "cpu_seconds": self.limits.cpu_seconds,
            "copies": known_digests(),
        }
        program = [policy.python(), "-B", "-c", "from course_utils.grading.sandbox.fork_server import main; main()"]
        program.append(str(theirs.fileno()))
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": "/",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(policy.PACKAGE.parent),  # this copy of the course, whichever is installed
            "CUDA_VISIBLE_DEVICES": "",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": "/tmp" if self.layers.bubblewrap else str(folder),
            "COURSE_PROGRESS": "off",
            **({"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {"PYTHONNOUSERSITE": "1"}),
        }
        line = policy.command(self.layers, program, self.hidden, files)
        with theirs, tempfile.TemporaryFile() as errors:
            passed = [theirs.fileno(), *([] if ruleset is None else [ruleset])]
            self._server = subprocess.Popen(
                line, cwd="/", env=environment, pass_fds=passed, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
            )  # fmt: skip
            theirs.close()
            self._control.settimeout(SECONDS_TO_START)
            try:
                self._control.sendall(json.dumps(settings).encode() + b"\n")
                answer = self._control.recv(4096)
            except TimeoutError:
                answer = b"no answer in time"
            except OSError:  # it ended
                answer = b""
            if answer != b"ready":
                errors.seek(0)
                words = answer or (errors.read().strip().splitlines() or [b"it ended"])[-1]
                self._stop_server()
                raise self._cannot_start(words.decode(errors="replace"))
            self._control.settimeout(SECONDS_TO_OBEY)

    def _cannot_start(self, why):
        return policy.SandboxError(
            f"the process for learners' code could not be started with the locks {self.layers}: {why}"
        )

    def _stop_server(self):
        self._drop_pipes()
        self._pid = None
        if self._server:
            self._control.close()
            self._server.kill()
            self._server.wait()
            self._server = None
            self._kept.close()

    # One learner's process.

    def _begin(self):
        """Fork a process; the pipes to it."""
        their_requests, requests = os.pipe()
        replies, their_replies = os.pipe()
        os.set_blocking(requests, False)
        self._pipes = requests, replies
        try:
            socket.send_fds(self._control, [b"start"], [their_requests, their_replies])
            (self._pid,) = STARTED.unpack(self._receive(STARTED.size))
        except OSError:
            raise ServerGone from None
        finally:
            os.close(their_requests)
            os.close(their_replies)

    def _end(self):
        """Kill and reap it; how it ended, in words."""
        if self._pid is None:
            return ""
        self._drop_pipes()
        self._pid = None
        try:
            self._control.sendall(b"end")
            _, ended_by, _, kilobytes = ENDED.unpack(self._receive(ENDED.size))
        except OSError:
            raise ServerGone from None
        self.peak = max(self.peak, 1024 * kilobytes)
        return f"signal {ended_by}" if ended_by and ended_by != 9 else ""

    def _receive(self, size):
        received = b""
        while len(received) < size:
            part = self._control.recv(size - len(received))
            if not part:
                raise ConnectionError
            received += part
        return received

    def _drop_pipes(self):
        for pipe in self._pipes or ():
            os.close(pipe)
        self._pipes = None

    def _ask(self, request, seconds, cases=None, candidate=None):
        """Return the reply to a request, with packed cases or none, within `seconds`. Raises protocol.Closed, protocol.Late, protocol.Garbled."""
        requests, replies = self._pipes
        nonce, deadline = secrets.token_bytes(protocol.NONCE), time.monotonic() + seconds
        for body in (pack(request), cases):
            if body is not None:
                protocol.write(requests, nonce, body, deadline)
        while True:
            reply = _understood(protocol.read_reply(replies, nonce, deadline))
            if not isinstance(reply, dict) or ("call" in reply and candidate is None):
                raise protocol.Garbled
            if "call" not in reply:
                return reply
            protocol.write(requests, nonce, pack(candidate(reply)), deadline)

    # One notebook.

    def answers(self, cells: list[str], wanted: list[Wanted]) -> Iterator[Answer | str]:
        """Run a notebook's cells, and each answer after the cell where it belongs.

        Answers that are offered more run later, in a process of their own, so that none meets what another task is offered.

        Args:
            cells: the sources of its code cells.
            wanted: for each task.

        Yields:
            One sentence (str) for each cell that failed and for time that was used up, and one Answer for each task, in order. How the
            cells have answered questions is then in `answered`.
        """
        notebook, self.answered, self.odd = _Run(self, cells), {}, []
        try:
            answers = notebook.answers(wanted)
            self.answered, self.odd, self.left = notebook.answered, notebook.odd, max(0.0, notebook.left)
            yield from notebook.failed()
            yield from answers
        finally:
            with suppress(ServerGone):
                self._end()


def _understood(body):
    """Return a reply's value; what takes long or much to unpack is none."""
    if len(body) <= SMALL:
        return protocol.understood(body)
    try:
        with time_limit(SECONDS_TO_UNPACK), policy.limited_memory(MEMORY_TO_UNPACK):
            return protocol.understood(body)
    except (TimeIsUp, MemoryError):
        raise protocol.Garbled from None


def _is_short_pair(pair):
    """Return whether this may be an answer and a seed: two scalars that take no time to look at, whatever a process says."""
    return isinstance(pair, tuple) and len(pair) == 2 and all(map(_is_short, pair))


def _is_short(value):
    if type(value) is str:
        return len(value) <= SAID_AT_MOST
    return value.bit_length() <= 64 if type(value) is int else value is None or type(value) in (bool, float)


def _says(outcome, verdict):
    """Return whether a test says this of a candidate, True or False."""
    return isinstance(outcome, Outcome) and type(outcome.value) is bool and outcome.value is verdict


class _Run:
    """One notebook at work: which cells are left out, which process it lives in and how far that has come, how much time is left."""

    def __init__(self, sandbox, cells):
        self._sandbox, self._cells, self._skip, self._slow, self._failures = sandbox, cells, set(), set(), {}
        self._limits, self._deaths, self._spent, self._spent_on_cells = (
            sandbox.limits,
            0,
            0.0,
            0.0,
        )  # seconds, as `_ask` counts
        self._took = {}  # {cell: seconds, when it ran first}
        self._alive, self._at, self._offers = (
            False,
            0,
            (),
        )  # the process: how many cells it has behind it, what it was given
        self._partial = False  # whether the process has run only part of a cell
        self._free = False  # whether cells and answers run again for the grader's sake
        self._spent_free = 0.0  # seconds that this took, up to those of an answer; more is the notebook's
        self._brief = False  # whether slow cells are cut short, which have run before
        self._cut = False  # whether one was
        self._at_most = 0.0  # seconds that a cell may take which runs again in this process
        self._missed = set()  # cells that lacked some of what is offered
        self.answered = {}  # {question's id: (answer, seed)}
        self._checked = {}  # {task: (the last cell that checked it, after how many of its statements; None for all)}, as the cells say
        self.odd = []  # what cells and answers did to their process, in sentences

    @property
    def left(self):
        """Seconds that are left to the notebook."""
        return self._limits.whole - self._spent

    def _ask(self, request, seconds, *more):
        """Ask what may take so many seconds, and longer where the machine is busy; return the reply."""
        began, times = time.monotonic(), load_factor()
        try:
            return self._sandbox._ask(request | {"seconds": seconds, "waiting": times}, times * seconds + GRACE, *more)
        finally:
            self._lasted = (time.monotonic() - began) / max(times, load_factor())
            free = min(self._lasted, self._limits.seconds - self._spent_free) if self._free else 0.0
            self._spent_free += free
            self._spent += self._lasted - free

    def answers(self, wanted):
        """Return an Answer for each task, and let every cell have run.

        Those that are offered the same share a process, which goes from cell to cell. Another begins anew for what is offered else, and
        for the tasks of which it has called a stub: whatever answers them below has not met their inputs.
        """
        last, found = len(self._cells) - 1, {}
        for offers in sorted({(), *(each.offers for each in wanted)}, key=lambda offers: (len(offers), offers)):
            again, first = (
                [(each.places or (last,), number) for number, each in enumerate(wanted) if each.offers == offers],
                not offers,
            )
            while again or first:
                waiting, again = again, []
                heapify(waiting)
                while waiting:
                    (place, *others), number = heappop(waiting)
                    found[number] = answer = self._answer(wanted[number], place)
                    if others and answer.is_none:
                        shown = answer.state == "outcomes"  # the inputs, to a stub
                        again.append((tuple(others), number)) if shown else heappush(waiting, (tuple(others), number))
                if first:
                    self._go_to(last, offers)
                first = False
                if again:
                    self._end()
        return [self._as_checked(each, found[number]) for number, each in enumerate(wanted)]

    def _as_checked(self, wanted, found):
        """Return the Answer as the notebook's own check saw it, where the text of the cells does not tell: by another name, in a loop, or
        with statements below it in its cell. Where there is none to be had, what was `found` counts."""
        place, statements = self._checked.get(wanted.task, (wanted.checked, None))
        if found.state == "not run" or (place, statements) == (wanted.checked, None):
            return self._confirmed(wanted, found)
        seen = wanted._replace(checked=place)
        answer = self._answer(seen, place, statements)
        if answer.is_none or answer.state == "not run":
            return self._confirmed(wanted, found)
        return self._confirmed(seen, answer, statements)

    def failed(self):
        """Return a sentence for each cell that failed, and one where the notebook's time was used up."""
        failed = [f"Cell {number + 1} failed: {self._failures[number]}" for number in sorted(self._failures)]
        return failed if self.left > 0 else [self._used_up(), *failed]

    def _used_up(self):
        return (
            f"The {self._limits.whole:g} seconds that a notebook has for all its cells and answers were used up; cells run again where "
            "an answer needs a fresh start, and that counts too. What came after that was not run and earns nothing."
        )

    def _go_to(self, place, offers, statements=None):
        """Let there be a process with what a task is offered, and no more, that has run the cells up to this place.

        Return False where time or patience is used up. The cells run again where the process has gone further, where it holds what this
        task is not offered, and where they lacked what it is offered.
        """
        if self._partial or self._at > place + (statements is None) or offers != self._offers:
            self._end()
        self._partial = statements is not None
        return self._come_to(place, offers, statements)

    def _come_to(self, place, offers, statements):
        while self._deaths <= self._limits.processes and self.left > 0:
            if not self._alive:
                self._sandbox._begin()
                self._alive, self._at, self._offers, self._at_most = True, 0, offers, self._share_of_a_cell()
                if offers and not self._give(offers):
                    continue
            while self._at <= place and self._cell(self._at, statements if self._at == place else None):
                self._at += 1
            if self._at > place:
                return True
        return False

    def _end(self):
        if self._alive:
            self._sandbox._end()
            self._alive = False

    def _share_of_a_cell(self):
        """Return how long a cell may take that runs again, so that all of them leave time for answers: only slow ones are cut short."""
        left, took = CELLS_SHARE[0] * self.left, sorted(self._took[number] for number in self._took.keys() - self._skip)
        for before, seconds in enumerate(took):
            if seconds * (len(took) - before) > left:
                return left / (len(took) - before)
            left -= seconds
        return self._limits.seconds

    def _give(self, offers):
        """Put what a task is offered into the process; return whether it is alive."""
        try:
            self._sandbox._ask({"do": "offer", "sources": sources(offers)}, SECONDS_TO_TAKE)
        except (protocol.Closed, protocol.Late, protocol.Garbled) as error:
            self._end_and_explain(error, SECONDS_TO_TAKE)
        return self._alive

    def _seconds_for(self, number):
        """Return how long a cell may take. Slow ones leave time for what is below them, and for the answers; none is much slower the second time."""
        least = SLICE * self._limits.seconds
        if number in self._slow:
            return min(least, self.left)
        if self._brief and number in self._took:
            return BRIEF
        if number in self._took:
            return min(least + 2 * self._took[number], max(self._at_most, 0.1 * least), self.left)
        slow, all_cells = (share * self._limits.whole - self._spent_on_cells for share in CELLS_SHARE)
        return min(max(least, min(self._limits.seconds, slow)), all_cells, self.left)

    def _cell(self, number, statements=None):
        """Return whether the process outlived the cell, or so many of its statements."""
        if number in self._skip:
            return True
        seconds = self._seconds_for(number)
        if seconds <= 0:
            self._failures.setdefault(number, "not run, since the time for the notebook's cells was used up")
            return True
        request = {"do": "cell", "number": number + 1, "source": self._cells[number], "statements": statements}
        again = number in self._took
        try:
            outcome = self._ask(request, seconds)
        except (protocol.Closed, protocol.Late, protocol.Garbled) as error:
            self._skip.add(number)
            self._failures[number] = self._end_and_explain(error, seconds)
            if not isinstance(error, protocol.Late):
                self.odd.append(f"Cell {number + 1}: {self._failures[number]}")
            return False
        finally:
            self._spent_on_cells += 0 if again else self._lasted
            self._took.setdefault(number, self._lasted)
        self._take_down(outcome.get("answered"))
        if not again:
            self._note_checks(number, outcome.get("checked"))
        missed = outcome.get("missed") is True
        if again and missed:
            return True  # it is said already, or it is there for another task
        if number in self._missed:
            self._failures.pop(number, None)  # what it lacked, it has now
        if missed:
            self._missed.add(number)
        failed = outcome.get("failed")
        if self._brief and again:
            self._cut |= outcome.get("late") is True
        elif outcome.get("late") is True:
            self._slow.add(number)
            self._failures.setdefault(number, self._stopped(seconds))
        elif isinstance(failed, str) and failed:
            self._failures[number] = without_addresses(failed)[:SENTENCE_AT_MOST]
        return True

    def _take_down(self, answered):
        """Keep how a cell has answered questions, as far as it may be an answer."""
        pairs = answered.items() if isinstance(answered, dict) else ()
        self.answered.update(
            {question: pair for question, pair in pairs if _is_short(question) and _is_short_pair(pair)}
        )

    def _note_checks(self, place, checked):
        """Keep which tasks a cell has checked, as far as that may be true."""
        for task, after in checked.items() if isinstance(checked, dict) else ():
            if _is_short(task) and (after is None or type(after) is int and 0 < after < 10**6):
                self._checked[task] = place, after

    def _stopped(self, seconds):
        """Say that time was up, without a measured number, which would differ from run to run."""
        if seconds == self._limits.seconds:
            return f"stopped after {seconds:g} seconds of computing"
        return "stopped, since the time for the notebook's cells was used up"

    def _end_and_explain(self, error, seconds):
        """End the process, which has died or must; return why, in words."""
        self._alive = False
        self._deaths += 1
        how = self._sandbox._end()
        if isinstance(error, protocol.Late):
            return self._stopped(seconds)
        if isinstance(error, protocol.Garbled):
            return "it wrote into the grader's pipe"
        return f"it ended the process{f' ({how})' if how else ''}"

    def _answer(self, wanted, place, statements=None):
        """Return what comes of one answer after the cell at this place, or after so many of its statements; of a test over candidates, on one."""
        began = time.monotonic()
        if not self._go_to(place, wanted.offers, statements):
            return Answer("not run", place=place)
        first = wanted.again.first or Single(0, wanted.cases, wanted.candidate)
        answer = self._tried(wanted, place, first.cases, first.candidate)
        return replace(answer, seconds=time.monotonic() - began, place=place)

    def _confirmed(self, wanted, found, statements=None):
        """Return the Answer of a test over candidates, of which `found` is what came of the first case: first it judges some in processes that
        have met no other, then all of them.

        In this order, since a process that has met them all can tell later ones what it found, by the time at which it ends, by a cell that it
        ends in or by any other way. For the same reason it is the notebook's last process that runs this test. What is said of some counts,
        unless the test is wrong anyway.
        """
        verdicts, groups, _ = wanted.again
        if not groups or found.is_none or not (isinstance(found.outcomes, list) and len(found.outcomes) == 1):
            return found
        if not isinstance(found.outcomes[0], Outcome) or found.outcomes[0].status not in GO_ON:
            return found  # as it would have begun with all of them
        self._free = True
        for self._brief in (True, False):
            self._cut = False
            judged = self._in_new_processes(wanted, found.place, statements)
            others = [(number, outcome) for number, outcome in judged if not _says(outcome, verdicts[number])]
            if not others or not self._cut:
                break
        self._brief = False
        there = self._go_to(found.place, wanted.offers, statements)
        self._free = False
        began = time.monotonic()
        answer = self._tried(wanted, found.place, wanted.cases, wanted.candidate) if there else Answer("not run")
        self._end()
        found = replace(answer, seconds=found.seconds + time.monotonic() - began, place=found.place)
        outcomes = list(found.outcomes) if isinstance(found.outcomes, list) else []
        if len(outcomes) != len(verdicts):
            return found
        counted = [(each, right) for each, right in zip(outcomes, verdicts, strict=True) if right is not None]
        if any(_says(outcome, not right) for outcome, right in counted):
            return found
        for number, outcome in others:
            if outcome is None:
                return Answer("not run", place=found.place)
            self.odd.append(f"{wanted.name} judges a candidate differently when it has met no other")
            outcomes[number] = outcome
            if outcome.status not in GO_ON:
                return replace(found, outcomes=outcomes[: number + 1])
        return replace(found, outcomes=outcomes)

    def _in_new_processes(self, wanted, place, statements):
        """Return (number of a case, its outcome) for each, up to one that is wrong, or that is None for not run.

        In the first try, only definitions run of cells that take long, since most tests need no more. What they cut may be why verdicts are not
        the same as before, so a second try runs all cells whole, and judges all groups: it is no second guess at one of them.
        """
        judged = []
        for group in wanted.again.groups:
            self._end()
            for single in group:
                there = self._alive or self._go_to(place, wanted.offers, statements)
                answer = self._tried(wanted, place, single.cases, single.candidate) if there else Answer("not run")
                one = answer.outcomes if isinstance(answer.outcomes, list) and len(answer.outcomes) == 1 else [None]
                outcome = one[0] if isinstance(one[0], Outcome) else Outcome("stopped")
                judged.append((single.number, None if answer.state == "not run" else outcome))
                if answer.state == "not run" or not _says(outcome, wanted.again.verdicts[single.number]):
                    self._end()
                    return judged
        self._end()
        return judged

    def _tried(self, wanted, place, cases, candidate):
        """Return what comes of an answer on these cases, in the process that has come to this place."""
        task, seconds = wanted.task if place == wanted.checked else None, min(self._limits.seconds, self.left)
        answer = self._run(wanted, task, cases, candidate, seconds) if seconds > 0 else Answer("not run")
        if seconds < self._limits.seconds and answer.is_late:
            return Answer("not run")  # with all of an answer's time it might have ended
        return answer

    def _run(self, wanted, task, cases, candidate, seconds):
        try:
            request = {"do": "run", "task": task, "name": wanted.name, "kinds": wanted.kinds}
            reply = self._ask(request, seconds, cases, candidate)
            if "no answer" in reply:
                state, shown = reply["no answer"]
                return Answer(state if isinstance(state, str) and state in NO_ANSWER else "value", shown)
            if reply.get("unwatched") is True:
                self.odd.append(f"{wanted.name} ended the watch over what it calls")
            return Answer("outcomes", None, reply.get("outcomes"))
        except (protocol.Closed, protocol.Late, protocol.Garbled, TypeError, ValueError) as error:
            status = "timeout" if isinstance(error, protocol.Late) else "stopped"
            how = self._end_and_explain(error, seconds)
            return Answer("outcomes", None, [Outcome(status, seconds=seconds)], died=how)
