"""Runs one notebook in a sandbox: its cells, and each answer right after the cell that checks it, where it sees the same names as in the notebook.

A process that dies or hangs costs only the current cell or answer; the rest goes on in a new one. No process's reply is trusted.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import count, takewhile
from typing import NamedTuple

from course_utils.checks.running.contract import GO_ON, Outcome
from course_utils.grading.judging.budget import TimeBudget
from course_utils.grading.judging.offered_source import sources
from course_utils.grading.sandbox import protocol
from course_utils.grading.sandbox.protocol import SAID_AT_MOST
from course_utils.grading.storage.normalise import without_addresses

NO_ANSWER = ("missing", "empty", "class", "module", "callable", "value")
NO_REPLY = (protocol.Closed, protocol.NoReplyInTime, protocol.Garbled)
SECONDS_TO_TAKE = 5  # for a process to take what a task is offered
CANDIDATES, SECOND_DRAW = "candidates", "second draw"  # what costs a notebook nothing; see `TimeBudget.free`
GRACE = 0.8  # seconds beyond the time that a process is told to keep
SENTENCE_AT_MOST = 400  # characters


class CandidateCases(NamedTuple):
    """The cases in which a test meets one candidate, to be run in a process that holds no other."""

    numbers: tuple[int, ...]  # among the task's cases
    cases: bytes  # these cases alone, packed
    candidate: Callable  # calls the candidate in them, and no other


class AnswerRequest(NamedTuple):
    """What is asked of a notebook for one task."""

    task: str  # its id
    name: str  # of the answer
    kinds: tuple  # of object that it may be, as `kind_of_answer` names them
    cases: bytes  # as an answer may see them, packed
    candidate: Callable | None = None  # calls a candidate
    offers: tuple = ()  # parts of the course, as in a Task
    # Cells after which it runs: the first, or if there is no answer yet, the next; () means after the last cell.
    places: tuple[int, ...] = ()
    checked: int = -1  # the one of these after which the object passed to `check` runs, whatever its name
    # Of a test over candidates: its cases, one candidate at a time, in place of all cases at once.
    one_by_one: tuple[CandidateCases, ...] = ()
    second: bytes | None = None  # the cases of a second draw, packed; None where it adds nothing


@dataclass(frozen=True)
class AnswerResult:
    """The result for one task. `state`: "missing"; a kind of `kind_of_answer`; "outcomes"; "not run", if time was used up.

    `second`: the outcomes on a second draw, () if it was not run on that. They decide only which explanation is given.
    """

    state: str
    shown: object = None
    outcomes: object = ()
    seconds: float = 0.0
    died: str = ""  # how its process ended, if it did
    place: int = 0  # the cell after which it ran
    second: object = ()

    @property
    def is_none(self) -> bool:
        """Whether there is no answer yet: nothing with its name, or a stub."""
        first = self.outcomes[0] if isinstance(self.outcomes, list) and self.outcomes else None
        return self.state in ("missing", "empty") or isinstance(first, Outcome) and first.status == "not implemented"

    @property
    def timed_out(self) -> bool:
        """Whether it was stopped because its time was up."""
        last = self.outcomes[-1] if isinstance(self.outcomes, list) and self.outcomes else None
        return isinstance(last, Outcome) and last.status == "timeout"


@dataclass
class ProcessPosition:
    """How far a learner's process has got in its notebook."""

    offers: tuple  # the parts of the course that it was given
    rerun_at_most: float  # seconds for a cell that runs again
    is_brief: bool = False  # whether cells that run again are cut short
    next_cell: int = 0
    inside_cell: bool = False  # whether only some statements of its last cell have run
    given: set[str] = field(default_factory=set)  # tasks whose inputs it has been given
    spoilt: set[str] = field(default_factory=set)  # of these, those whose inputs it had before it met a candidate

    def can_reach(self, place: int, offers: tuple, whole: bool) -> bool:
        """Return whether it was offered exactly this and can go on to the end of a cell, or into the cell if not `whole`."""
        return not self.inside_cell and self.next_cell <= place + whole and self.offers == offers

    def note_inputs(self, request: AnswerRequest) -> None:
        """Note that it has been given a task's inputs, and perhaps a candidate, which may be a right answer to another task that it can ask."""
        if request.candidate:
            self.spoilt |= self.given
        self.given.add(request.task)


class NotebookRun:
    """One notebook's cells and answers.

    Args:
        sandbox: the SandboxClient in which they run.
        cells: the source of each code cell, "" for other cells.
    """

    def __init__(self, sandbox, cells: list[str]):
        self.budget = TimeBudget(sandbox.limits)
        self.question_replies = {}  # {question's id: (reply, seed)}
        self.odd = []  # what cells and answers did to their process, in sentences
        self._sandbox, self._limits, self._cells = sandbox, sandbox.limits, cells
        self._used_before = 0.0  # seconds used when the live process began
        self._process, self._deaths = None, 0  # the ProcessPosition of the live process, and how many died
        self._left_out = set()  # cells that ended their process or had to be killed with it
        self._lacking = set()  # cells that used what was not offered
        self._cut_short = False  # whether a brief process has cut a cell short
        self._failures = {}  # {cell: why it failed}
        # {task: (the last cell that checked it, after how many of its statements; None for all)}, as the cells say
        self._checked = {}

    def run_answers(self, requests: list[AnswerRequest]) -> list[AnswerResult]:
        """Return an AnswerResult for each task; by then every cell has run.

        Tasks that are offered the same share a process, which goes from cell to cell. If it calls a task's stub, the answer further down
        runs in a new process, which has not seen the inputs.
        """
        last, found = len(self._cells) - 1, {}
        for offers in sorted({(), *(each.offers for each in requests)}, key=lambda offers: (len(offers), offers)):
            waiting = [(each.places or (last,), n) for n, each in enumerate(requests) if each.offers == offers]
            waiting = self._answer_in_one_process(waiting, requests, found)
            if not offers:
                self._go_to(last, offers)
            while waiting:
                self._end()
                waiting = self._answer_in_one_process(waiting, requests, found)
        return [self._as_checked(each, found[n]) for n, each in enumerate(requests)]

    def failed(self) -> list[str]:
        """Return a sentence for each cell that failed, and one if the notebook's time was used up."""
        failed = [f"Cell {number + 1} failed: {self._failures[number]}" for number in sorted(self._failures)]
        used_up = (
            f"The {self._limits.whole:g} seconds that a notebook has for all its cells and answers were used up; cells run again where "
            "an answer needs a fresh start, and that counts too. What came after that was not run and earns nothing."
        )
        return failed if self.budget.left > 0 else [used_up, *failed]

    # Answers.

    def _answer_in_one_process(self, waiting, requests, found):
        """Add the result for each (places, number of a request) to `found`; return those whose stub was called, with the places below it."""
        heapify(waiting)
        stubs = []
        while waiting:
            (place, *below), number = heappop(waiting)
            found[number] = answer = self._answer_at(place, requests[number])
            if below and answer.is_none:
                if answer.state == "outcomes":
                    stubs.append((tuple(below), number))
                else:
                    heappush(waiting, (tuple(below), number))
        return stubs

    def _as_checked(self, request, answer):
        """Return the AnswerResult as the notebook's own check saw it, which the cells' text may not show: under a different name, in a loop, or with
        statements below the check in its cell. If there is none, the `answer` found from the text counts."""
        place, statements = self._checked.get(request.task, (request.checked, None))
        if answer.state == "not run" or (place, statements) == (request.checked, None):
            return self._confirmed(request, answer)
        checked = request._replace(checked=place)
        as_checked = self._answer_at(place, checked, statements)
        if as_checked.is_none or as_checked.state == "not run":
            return self._confirmed(request, answer)
        return self._confirmed(checked, as_checked, statements)

    def _answer_at(self, place, request, statements=None):
        """Return the result of an answer after a cell, or after that many of its statements; of a test over candidates, on its first candidate."""
        began = time.monotonic()
        if self._process and request.task in self._process.spoilt:
            self._end()
        if not self._go_to(place, request.offers, statements):
            return AnswerResult("not run", place=place)
        self._process.note_inputs(request)
        asked = request.one_by_one[0] if request.one_by_one else request
        answer = self._answer(request, place, asked.cases, asked.candidate)
        seconds = time.monotonic() - began
        return replace(answer, seconds=seconds, place=place, second=self._on_second_draw(request, place, answer))

    def _on_second_draw(self, request, place, answer):
        """Return an answer's outcomes on the second draw, () if there are none. A right answer runs on it as a wrong one does: none learns which it is."""
        last = answer.outcomes[-1] if isinstance(answer.outcomes, list) and answer.outcomes else None
        seconds = self.budget.free_for(SECOND_DRAW)
        if request.second is None or not isinstance(last, Outcome) or last.status not in GO_ON or seconds <= 0:
            return ()
        with self.budget.free(SECOND_DRAW):
            task = request.task if place == request.checked else None
            again = self._answer_within(seconds, request, task, request.second, None, repeated=False)
        return () if again.died or again.state != "outcomes" else again.outcomes

    def _confirmed(self, request, answer, statements=None):
        """Return the AnswerResult of a test on all candidates, given the one on its first candidate; any other unchanged.

        Each candidate is judged in a process that holds no other. Otherwise a test could compare them and side with the majority. If cells were cut
        short, all may be judged a second time, for a test that needs what such a cell computes. Whether verdicts are right never decides
        that: otherwise a test could be two tests, of which the better one counts.
        """
        first = answer.outcomes[0] if isinstance(answer.outcomes, list) and answer.outcomes else None
        if not request.one_by_one or not isinstance(first, Outcome) or first.status not in GO_ON:
            return answer
        began = time.monotonic()
        with self.budget.free(CANDIDATES):
            self._cut_short = False
            judged = self._one_by_one(request, answer.place, statements, brief=True)
            if self._cut_short and _tells_nothing(judged):  # perhaps because of that
                judged = self._one_by_one(request, answer.place, statements)
            self._end()
        return replace(judged, seconds=answer.seconds + time.monotonic() - began, place=answer.place)

    def _one_by_one(self, request, place, statements, brief=False):
        """Return the AnswerResult of a test whose candidates are judged in a new process each.

        `brief` cuts short cells that have run before: most tests need only definitions.
        """
        found, ended, died, used = {}, None, "", 0.0
        for asked in request.one_by_one:
            self._end()
            if not self._go_to(place, request.offers, statements, brief):
                return AnswerResult("not run")
            before = self.budget.used
            answer = self._answer(request, place, asked.cases, asked.candidate, used)
            used += self.budget.used - before
            if answer.state == "not run":
                return answer
            outcomes = _outcomes_of(answer, len(asked.numbers))
            found |= dict(zip(asked.numbers, outcomes, strict=False))
            ended, died = next((each for each in outcomes if each.status not in GO_ON), None), answer.died
            if ended and ended.status == "timeout":
                ended = replace(ended, seconds=self._limits.seconds)  # those of all candidates together
            if ended:
                break
        outcomes = list(takewhile(lambda each: each and each.status in GO_ON, map(found.get, count())))
        return AnswerResult("outcomes", None, [*outcomes, ended] if ended else outcomes, died=died)

    def _answer(self, request, place, cases, candidate, used=0.0):
        """Return the result of an answer on these cases, in the process that has reached this place; `used` seconds of its time are gone."""
        whole = max(self._limits.seconds - used, 0.0)
        seconds = min(whole, self.budget.left)
        if self.budget.left <= 0:
            return AnswerResult("not run")
        task = request.task if place == request.checked else None
        answer = self._answer_within(seconds, request, task, cases, candidate)
        if seconds < whole and answer.timed_out:
            return AnswerResult("not run")  # with an answer's full time it might have finished
        return answer

    def _answer_within(self, seconds, request, task, cases, candidate, repeated=True):
        run = {"do": "run", "task": task, "name": request.name, "kinds": request.kinds, "repeated": repeated}
        try:
            reply = self._ask(run, seconds, cases, candidate)
            if "no answer" in reply:
                state, shown = reply["no answer"]
                return AnswerResult(state if isinstance(state, str) and state in NO_ANSWER else "value", shown)
            if reply.get("unwatched") is True:
                self.odd.append(f"{request.name} ended the watch over what it calls")
            return AnswerResult("outcomes", None, reply.get("outcomes"))
        except (*NO_REPLY, TypeError, ValueError) as error:
            status = "timeout" if isinstance(error, protocol.NoReplyInTime) else "stopped"
            how = self._end_and_explain(error, seconds)
            return AnswerResult("outcomes", None, [Outcome(status, seconds=seconds)], died=how)

    # The process.

    def _go_to(self, place, offers, statements=None, brief=False):
        """Bring a process to the end of a cell, or past that many of its statements. It holds what a task is offered and no more.

        Return False if the time or the number of processes is used up. If the current process cannot get there, a new one runs
        the cells again.
        """
        if self._process and not self._process.can_reach(place, offers, whole=statements is None):
            self._end()
        while self._deaths <= self._limits.processes and self.budget.left > 0:
            if not self._process and not self._begin(offers, brief):
                continue
            process = self._process
            while process.next_cell <= place and self._cell(
                process.next_cell, statements if process.next_cell == place else None
            ):
                process.next_cell += 1
            if process.next_cell > place:
                process.inside_cell = statements is not None
                return True
        return False

    def _begin(self, offers, brief):
        """Start a process and give it what a task is offered; return whether it is alive."""
        self._sandbox.begin_process()
        self._used_before = self.budget.used
        self._process = ProcessPosition(offers, self.budget.rerun_at_most(self._left_out), brief)
        if offers:
            try:
                self._sandbox.ask({"do": "offer", "sources": sources(offers)}, SECONDS_TO_TAKE)
            except NO_REPLY as error:
                self._end_and_explain(error, SECONDS_TO_TAKE)
        return self._process is not None

    def _end(self):
        if self._process:
            self._end_process()

    def _end_process(self):
        self._process = None
        how = self._sandbox.end_process()
        self.budget.settle(self._used_before, self._sandbox.computed)
        return how

    def _end_and_explain(self, error, seconds):
        """End the process, which has died or must; return why, in words."""
        self._deaths += 1
        how = self._end_process()
        if isinstance(error, protocol.NoReplyInTime):
            return self._why_stopped(seconds)
        if isinstance(error, protocol.Garbled):
            return "it wrote into the grader's pipe"
        return f"it ended the process{f' ({how})' if how else ''}"

    def _ask(self, request, seconds, cases=None, candidate=None, cell=None):
        """Return the reply to a request that may take this many seconds, or longer on a busy machine."""
        with self.budget.measured(cell) as load:
            request = request | {"seconds": seconds, "waiting": load}
            return self._sandbox.ask(request, load * seconds + GRACE, cases, candidate)

    # Cells.

    def _cell(self, number, statements=None):
        """Run a cell, or that many of its statements; return whether the process survived."""
        if number in self._left_out or not self._cells[number]:
            return True
        process, again = self._process, self.budget.has_run(number)
        seconds = self.budget.seconds_for(number, process.rerun_at_most, process.is_brief)
        if seconds <= 0:
            self._failures.setdefault(number, "not run, since the time for the notebook's cells was used up")
            return True
        request = {"do": "cell", "number": number + 1, "source": self._cells[number], "statements": statements}
        try:
            outcome = self._ask(request, seconds, cell=number)
        except NO_REPLY as error:
            self._left_out.add(number)
            self._failures[number] = self._end_and_explain(error, seconds)
            if not isinstance(error, protocol.NoReplyInTime):
                self.odd.append(f"Cell {number + 1}: {self._failures[number]}")
            return False
        self._note_question_replies(outcome.get("question_replies"))
        if not again:
            self._note_checks(number, outcome.get("checked"))
        self._note_failure(number, outcome, again, seconds)
        return True

    def _note_question_replies(self, replies):
        """Keep a cell's replies to questions, as far as they can be replies."""
        pairs = replies.items() if isinstance(replies, dict) else ()
        self.question_replies.update(
            {question: pair for question, pair in pairs if _is_short(question) and _is_short_pair(pair)}
        )

    def _note_checks(self, place, checked):
        """Keep which tasks a cell has checked, as far as that can be true."""
        for task, after in checked.items() if isinstance(checked, dict) else ():
            if _is_short(task) and (after is None or type(after) is int and 0 < after < 10**6):
                self._checked[task] = place, after

    def _note_failure(self, number, outcome, again, seconds):
        """Keep why a cell failed. One that lacked what was not offered may have it the next time and then no longer fails."""
        lacked, late, failed = outcome.get("missed") is True, outcome.get("late") is True, outcome.get("failed")
        if again and lacked:
            return  # as was said the first time, or other tasks are offered it
        if number in self._lacking:
            self._failures.pop(number, None)
        if lacked:
            self._lacking.add(number)
        if again and self._process.is_brief:
            self._cut_short |= late
        elif late:
            self.budget.slow.add(number)
            self._failures.setdefault(number, self._why_stopped(seconds))
        elif isinstance(failed, str) and failed:
            self._failures[number] = without_addresses(failed)[:SENTENCE_AT_MOST]

    def _why_stopped(self, seconds):
        """Return that time was up, without a measured time, which would differ from run to run."""
        if seconds == self._limits.seconds:
            return f"stopped after {seconds:g} seconds of computing"
        return "stopped, since the time for the notebook's cells was used up"


def _is_short_pair(pair):
    """Return whether this may be an answer and a seed: two scalars that take no time to examine, whatever a process says."""
    return isinstance(pair, tuple) and len(pair) == 2 and all(map(_is_short, pair))


def _is_short(value):
    if type(value) is str:
        return len(value) <= SAID_AT_MOST
    return value.bit_length() <= 64 if type(value) is int else value is None or type(value) in (bool, float)


def _outcomes_of(answer, cases):
    """Return the Outcomes in a process's reply on so many cases; after the last of fewer, the run has ended. Of no such reply, one that says so."""
    outcomes = answer.outcomes
    are_outcomes = isinstance(outcomes, list) and outcomes and all(isinstance(each, Outcome) for each in outcomes)
    if are_outcomes and (len(outcomes) == cases or len(outcomes) < cases and outcomes[-1].status not in GO_ON):
        return outcomes
    return [Outcome("stopped")]


def _tells_nothing(answer):
    """Return whether a test gave some candidate no verdict, or all the same one, as it does if a value that it needs is missing."""
    verdicts = [outcome.value for outcome in answer.outcomes]
    return not all(type(verdict) is bool for verdict in verdicts) or len(set(verdicts)) < 2
