"""Both halves of a check in one process: an answer is run, and what came of it is judged."""

from functools import lru_cache

from course_utils.checks.judge import Expected, judge, refuse
from course_utils.checks.report import Report
from course_utils.checks.running.contract import question
from course_utils.checks.running.run import kind_of_answer, marked, run
from course_utils.checks.task import Task


def judge_answer(task: Task, answer, seed: int = 0, seconds: float = 10, expected: Expected | None = None) -> Report:
    """Return the Report on an answer, without showing or keeping anything.

    Args:
        task: what was asked.
        answer: the function, or anything that can be called like it.
        seed: of the inputs.
        seconds: how long all its calls together may take.
        expected: `Expected(task, task.make_cases(seed))`, where many answers are judged on the same inputs.
    """
    kind, shown = kind_of_answer(answer)
    if kind not in task.answer_kinds:
        return refuse(task, kind, shown)
    expected = expected or expected_on(task, seed)
    outcomes = run(answer, list(map(question, expected.cases)), seconds, lambda key: marked(task.candidate(key)))
    return judge(task, expected.cases, outcomes, expected)


@lru_cache(maxsize=8)
def expected_on(task: Task, seed: int) -> Expected:
    """Return what a task expects on the inputs of a seed, kept for the next answers: most are checked again and again."""
    return Expected(task, task.make_cases(seed))
