"""Tries the mistakes that an instructor has added to tasks: whether a check can name each, and what it then says."""

from course_utils.base.errors import CourseError
from course_utils.checks import catalogue
from course_utils.checks.expected import Expected
from course_utils.checks.first_failure import first_failure
from course_utils.checks.instructor_mistakes import FILE, InstructorMistake, instructor_file
from course_utils.checks.judge_answer import expected_on, judge_answer
from course_utils.checks.match_mistake import agree_in_value
from course_utils.checks.task import Mistake, Task


def try_all() -> None:
    """Try each of the instructor's mistakes. Raises `CourseError` for the first that is of no use."""
    for own in catalogue.instructor_mistakes():
        try_out(own)


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


def try_out(own: InstructorMistake) -> str:
    """Return what a check says about an answer with a mistake. Raises `CourseError` if the mistake is of no use, saying why."""

    task, here = catalogue.load(own.task), f"{instructor_file() or FILE}, line {own.line}, {own.task}, {own.name}"
    expected = expected_on(task, 0)
    places = range(len(expected.cases))
    (mistake,) = (each for each in task.mistakes if each.name == own.name)
    outcomes = [expected.of_mistake(mistake, place) for place in places]
    if not any(first_failure(task, expected, place, outcomes[place]) for place in places):
        raise CourseError(f"{here}: this is correct in every case of the task, so no check can find it.")
    if wrong := misspelt(mistake, expected):
        raise CourseError(f"{here}: this stops in every case with {wrong}. Is a name misspelt?")
    for other in equal_mistakes(task, mistake, expected) if own.source else ():
        raise CourseError(
            f"{here}: this does exactly what the mistake {other.name} does, so a check would name neither. "
            "Give it that name to have checks use your sentence."
        )
    return judge_answer(task, mistake.function, seconds=60).message
