"""Tries the mistakes that an instructor has added to tasks: whether a check can name each, and what it then says.

Where they run is up to the caller: `grading/judging/own_mistakes.py` has them run in the sandbox.
"""

from collections.abc import Sequence

from course_utils.base.errors import CourseError
from course_utils.checks import catalogue
from course_utils.checks.expected import Expected, RunOwn
from course_utils.checks.first_failure import first_failure
from course_utils.checks.instructor_mistakes import InstructorMistake
from course_utils.checks.judge import explain_further, judge
from course_utils.checks.match_mistake import agree_in_value
from course_utils.checks.running.contract import Case, Outcome
from course_utils.checks.running.run import marked, run
from course_utils.checks.task import Mistake, Task

SECONDS = 10  # for a mistake that runs here, as for an answer
STOPPED = ("timeout", "memory", "stopped")  # the statuses of a mistake that does not end by itself


def run_here(task: Task, mistake: Mistake, cases: Sequence[Case]) -> list[Outcome]:
    """Return a mistake's outcomes, from this process."""
    return run(mistake.function, cases, SECONDS, lambda key: marked(task.candidate(key)))


def equal_mistakes(task: Task, mistake: Mistake, expected: Expected) -> list[Mistake]:
    """Return the task's other mistakes that give the same as this one in every case."""
    places = range(len(expected.cases))
    outcomes = [expected.of_mistake(mistake, place) for place in places]
    return [
        other
        for other in task.mistakes
        if other is not mistake and all(agree_in_value(outcomes[i], expected.of_mistake(other, i)) for i in places)
    ]


def misspelt(mistake: Mistake, expected: Expected) -> str:
    """Return the error of a mistake that in every case uses a name that does not exist, such as `x.maen()`; else ""."""
    failure = None
    for place in range(len(expected.cases)):
        failure = expected.of_mistake(mistake, place).failure
        if failure is None or failure.type not in ("AttributeError", "NameError"):
            return ""
    return f"{failure.type}: {failure.message}" if failure else ""


def try_out(own: InstructorMistake, run_own: RunOwn = run_here) -> str:
    """Return what a check says about an answer with a mistake. Raises `CourseError` if the mistake is of no use, saying why.

    Args:
        own: the mistake.
        run_own: returns the outcomes of a mistake on some cases of its task.
    """
    task, here = catalogue.load(own.task), f"line {own.line}, {own.task}, {own.name}"
    expected = Expected(task, task.make_cases(), run_own)
    (mistake,) = (each for each in task.mistakes if each.name == own.name)
    outcomes = [expected.of_mistake(mistake, place) for place in range(len(expected.cases))]
    if any(outcome.status in STOPPED for outcome in outcomes):
        raise CourseError(
            f"{here}: this was stopped, as it needs too much time or memory. Is there a loop that never ends?"
        )
    if not any(first_failure(task, expected, place, outcome) for place, outcome in enumerate(outcomes)):
        raise CourseError(f"{here}: this is correct in every case of the task, so no check can find it.")
    if wrong := misspelt(mistake, expected):
        raise CourseError(f"{here}: this stops in every case with {wrong}. Is a name misspelt?")
    for other in equal_mistakes(task, mistake, expected) if own.source else ():
        raise CourseError(
            f"{here}: this does exactly what the mistake {other.name} does, so a check would name neither. "
            "Give it that name to have checks use your sentence."
        )
    raw = run_own(task, mistake, expected.cases) if own.source else run_here(task, mistake, expected.cases)
    report = judge(task, expected.cases, raw, expected, explaining=False)
    if report.case:
        explain_further(report, expected, raw)
    return report.message
