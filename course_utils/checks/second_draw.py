"""A second draw of a task's ordinary inputs: what explains a wrong answer has to hold on both draws, since on one it may fit by chance.

The answer is run on it only if it has failed, so a right one costs nothing. A class is judged on one draw.
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


def on_two_draws(
    report: Report, expected: Expected, outcomes: Sequence[Outcome], run_on: Callable[[list[Case]], list[Outcome]]
) -> tuple[Expected, list[Outcome]] | None:
    """Return the Expected and the outcomes of both draws; None where a second would add nothing or the answer does not get through it.

    `run_on` runs the answer on the cases of the second: nothing here does.
    """
    task = expected.task
    if report.state == "passed" or task.candidates or task.recognise_function or task.cross_case_function:
        return None
    if len(outcomes) < len(expected.cases) or not _gets_through(outcomes):
        return None
    if expected.both is None:
        expected.both = TwoDraws(expected)
    cases = expected.both.cases[expected.judged :]
    more = run_on(cases)
    return (expected.both, [*outcomes, *more]) if len(more) == len(cases) and _gets_through(more) else None


def _gets_through(outcomes):
    return all(outcome.status in GO_ON and not outcome.unstable for outcome in outcomes)
