"""Both halves of a check in one process: runs an answer and judges its outcomes."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from course_utils.base.errors import CourseError
from course_utils.checks.compare import Finding
from course_utils.checks.error_hints import misspelt
from course_utils.checks.expected import Expected, run_oracle
from course_utils.checks.first_failure import first_failure
from course_utils.checks.judge import explain_further, judge, refuse
from course_utils.checks.report import Report
from course_utils.checks.running.contract import Case, Outcome, without_labels
from course_utils.checks.running.isolated_state import isolated_state
from course_utils.checks.running.run import caught_error, kind_of_answer, marked, run
from course_utils.checks.second_draw import on_two_draws
from course_utils.checks.task import Task


@isolated_state()
def judge_answer(
    task: Task, answer: object, seed: int = 0, seconds: float = 10, expected: Expected | None = None
) -> Report:
    """Return the Report on an answer, without showing or keeping anything.

    Args:
        task: what was asked.
        answer: the function, or anything that can be called like it.
        seed: for the inputs.
        seconds: how long all its calls together may compute.
        expected: `Expected(task, task.make_cases(seed))`, if many answers are judged on the same inputs.
    """
    kind, shown = kind_of_answer(answer)
    if kind not in task.answer_kinds:
        return refuse(task, kind, shown)
    expected = expected or expected_on(task, seed)
    outcomes = run(answer, list(map(without_labels, expected.cases)), seconds, lambda key: marked(task.candidate(key)))
    report = judge(task, expected.cases, outcomes, expected, explaining=False)
    if report.case:
        run_on = lambda cases: run(answer, list(map(without_labels, cases)), seconds, repeated=False)  # noqa: E731
        if both := on_two_draws(report, expected, outcomes, run_on):
            expected, outcomes = both
            report = judge(task, expected.cases, outcomes, expected, explaining=False)
        explain_further(report, expected, outcomes)
        if task.candidates and report.kind == "value":
            _name_caught_error(report, task, answer, seconds)
    return report


def _name_caught_error(report, task, answer, seconds):
    """Add to the report which error a test catches while it misjudges a candidate, if any: most likely the cause."""
    found = caught_error(answer, without_labels(report.case), lambda key: marked(task.candidate(key)), seconds)
    if found:
        report.failure = found
        advice = misspelt(task, report.case, found)
        report.remark = f"Your test catches an error and then gives a wrong verdict: {found.type}: {found.message}{'.' * bool(advice)} {advice}".rstrip()


@lru_cache(maxsize=8)
def expected_on(task: Task, seed: int) -> Expected:
    """Return the Expected of a task for a seed, cached for the next answers: most tasks are checked repeatedly."""
    return Expected(task, task.make_cases(seed))


@isolated_state()
def compare_on(task: Task, answer: Callable, case: Case, seconds: float = 5) -> tuple[Outcome, Outcome, Finding | None]:
    """Return the expected outcome of one input, the received one, and the first thing that is wrong with it, or None.

    Raises `CourseError` if there is no right answer for the input.
    """
    case = replace(case, raises="")
    right = run_oracle(task, [case])[0]
    if right.status != "value":
        why = f": {right.failure.type}, {right.failure.message}" if right.failure else ""
        raise CourseError(f"There is no right answer for this input{why}.")
    outcome = run(answer, [without_labels(case)], seconds)[0]
    return right, outcome, first_failure(task, Expected(task, [case]), 0, outcome)
