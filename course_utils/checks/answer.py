"""Both halves of a check in one process: an answer is run, and what came of it is judged."""

from dataclasses import replace
from functools import lru_cache

from course_utils.base.errors import CourseError
from course_utils.checks.compare import Finding
from course_utils.checks.expected import Expected, run_oracle
from course_utils.checks.judge import explain_further, judge, refuse
from course_utils.checks.report import Report
from course_utils.checks.running.contract import Case, Outcome, question
from course_utils.checks.running.own_state import own_state
from course_utils.checks.running.run import kind_of_answer, marked, run
from course_utils.checks.task import Task
from course_utils.checks.wrong import first_wrong


@own_state()
def judge_answer(
    task: Task,
    answer,
    seed: int = 0,
    seconds: float = 10,
    expected: Expected | None = None,
) -> Report:
    """Return the Report on an answer, without showing or keeping anything.

    Args:
        task: what was asked.
        answer: the function, or anything that can be called like it.
        seed: of the inputs.
        seconds: how long all its calls together may compute.
        expected: `Expected(task, task.make_cases(seed))`, where many answers are judged on the same inputs.
    """
    kind, shown = kind_of_answer(answer)
    if kind not in task.answer_kinds:
        return refuse(task, kind, shown)
    expected = expected or expected_on(task, seed)
    outcomes = run(answer, list(map(question, expected.cases)), seconds, lambda key: marked(task.candidate(key)))
    report = judge(task, expected.cases, outcomes, expected, explaining=False)
    if report.case:
        explain_further(report, expected, outcomes)
    return report


@lru_cache(maxsize=8)
def expected_on(task: Task, seed: int) -> Expected:
    """Return what a task expects on the inputs of a seed, kept for the next answers: most are checked again and again."""
    return Expected(task, task.make_cases(seed))


@own_state()
def compare_on(task: Task, answer, case: Case, seconds: float = 5) -> tuple[Outcome, Outcome, Finding | None]:
    """Return what should come of one input, what comes of it, and what is wrong with that first; None where it is right.

    Raises `CourseError` where there is no right answer for the input.
    """
    case = replace(case, raises="")
    right = run_oracle(task, [case])[0]
    if right.status != "value":
        why = f": {right.failure.type}, {right.failure.message}" if right.failure else ""
        raise CourseError(f"There is no right answer for this input{why}.")
    outcome = run(answer, [question(case)], seconds)[0]
    return right, outcome, first_wrong(task, Expected(task, [case]), 0, outcome)
