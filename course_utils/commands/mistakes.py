"""`course mistakes`: tries the mistakes that an instructor has added to tasks (`checks/instructor_mistakes.py`)."""

from course_utils.base.errors import CourseError
from course_utils.commands._arguments import report

WORDS = "Try the mistakes of your own that you have added to tasks, and show what a check says of each."


def add_arguments(parser) -> None:
    """Add nothing."""


def run(options) -> int:
    """Print what a check says about each; 1 if one is of no use."""
    from course_utils.checks.catalogue import instructor_mistakes
    from course_utils.checks.instructor_mistakes import FILE, instructor_file
    from course_utils.checks.try_instructor_mistakes import try_out

    problems = []
    if instructor_file() is None:
        print(f"There is no {FILE} here: docs/instructors.md shows what goes into it.")
        return 0
    for own in instructor_mistakes():
        try:
            print(f"{own.task}, {own.name}: {try_out(own)}")
        except CourseError as problem:
            problems.append(str(problem))
    return report(problems)
