"""A second draw of a task's ordinary inputs: what explains a wrong answer has to hold on both draws, since on one it may fit by chance.

In a notebook the answer is run on it only if it has failed, so a right one costs nothing. In a class every answer is, so that none learns
from it whether it has failed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from course_utils.checks.expected import FRESH, Expected
from course_utils.checks.report import Report
from course_utils.checks.running.contract import GO_ON, Case, Outcome
from course_utils.checks.task import Mistake


class TwoDraws(Expected):
    """What is expected on the cases of a first draw and, after them, on the ordinary cases of a second."""

    def __init__(self, first: Expected) -> None:
        task, wanted = first.task, [case for case in first.task.make_cases(FRESH) if not case.edge]
        self._first, self._run_own = first, first._run_own
        self._second = Expected(task, [replace(case, gradient=False) for case in wanted], first._run_own)
        self.task, self.cases = task, [*first.cases, *self._second.cases]
        self.truth, self.judged = [*first.truth, *self._second.truth], first.judged
        self._fresh = None

    def _part(self, place):
        number = len(self._first.cases)
        return (self._first, place) if place < number else (self._second, place - number)

    @property
    def more(self) -> list[Case]:
        """The cases of the second draw."""
        return self._second.cases

    def run_own_mistakes(self) -> None:
        """Run an instructor's own mistakes on the second draw now: in a class they run in the sandbox, which serves answers later."""
        for mistake in self.task.mistakes:
            if mistake.source:
                self._second.of_mistake(mistake, 0)

    def fresh(self) -> Expected:
        """Return the Expected for a third set of inputs."""
        if self._fresh is None:
            self._fresh = Expected(self.task, self.task.make_cases(FRESH + 1), self._run_own)
        return self._fresh

    def of_mistake(self, mistake: Mistake, place: int) -> Outcome:
        """Return the outcome of a named mistake on one case."""
        expected, place = self._part(place)
        return expected.of_mistake(mistake, place)

    def reach(self, place: int, gradients: bool = False) -> torch.Tensor | list | None:
        """Return how far off a correct answer may be; see `Expected.reach`."""
        expected, place = self._part(place)
        return expected.reach(place, gradients)


def two_draws_of(expected: Expected) -> TwoDraws | None:
    """Return what is expected on both draws, made once; None for a task where a second would add nothing."""
    task = expected.task
    if task.candidates or task.recognise_function or task.cross_case_function:
        return None
    if expected.both is None:
        expected.both = TwoDraws(expected)
    return expected.both


def on_two_draws(
    report: Report, expected: Expected, outcomes: Sequence[Outcome], run_on: Callable[[list[Case]], Sequence[Outcome]]
) -> tuple[Expected, list[Outcome]] | None:
    """Return the Expected and the outcomes of both draws; None where a second would add nothing or the answer does not get through it.

    `run_on` returns the answer's outcomes on the cases of the second: nothing here runs it.
    """
    only_type = report.kind == "type" and not report.mistake  # what names the type alone fits by no chance
    if report.state == "passed" or only_type or not gets_through(outcomes, expected.cases):
        return None
    both = two_draws_of(expected)
    if both is None:
        return None
    more = run_on(both.more)
    return (both, [*outcomes, *more]) if gets_through(more, both.more) else None


def gets_through(outcomes: Sequence[Outcome], cases: Sequence[Case]) -> bool:
    """Return whether an answer was run on all cases and gives the same each time."""
    return len(outcomes) == len(cases) and all(each.status in GO_ON and not each.unstable for each in outcomes)
