"""Which lessons a class has handed in, where nobody says so: each student has one vote for each lesson that a notebook of theirs is for.

Notebooks are read as text, a bounded part of each student's and of a large class, before anything runs.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import groupby

from course_utils import tasks
from course_utils.grading.reading.notebook_file import Unreadable, read_notebook
from course_utils.grading.reading.submissions import Found

STUDENTS = 500  # who are asked, spread evenly over a larger class
NOTEBOOKS = 10  # of a student that are looked at
LARGEST = 2_000_000  # bytes of a notebook that is looked at
SHARE = 0.25  # of the students with the commonest lesson: a lesson that fewer handed in does not count


@cache
def names_by_lesson() -> dict[str, list[str]]:
    """Return {"03": ["padding_mask", …], …}: what the exercises ask to be defined."""
    return {lesson: [task.answer_name for task in of] for lesson, of in tasks.by_lesson().items()}


def votes(found: Iterable[Found]) -> Counter:
    """Return how many students have handed in a notebook of each lesson, of those who are asked.

    Args:
        found: all files, one student's after the other.
    """
    students = [[one for one in files if one.file] for _, files in groupby(found, key=lambda one: one.student)]
    known, count = names_by_lesson(), Counter()
    for files in students[:: max(1, -(-len(students) // STUDENTS))]:
        count.update({_lesson(one, known) for one in files[-NOTEBOOKS:]} - {""})
    return count


def _lesson(found, known):
    try:
        return read_notebook(found.path, known, LARGEST).lesson
    except Unreadable:
        return ""


def chosen_by(count: Counter) -> list[str]:
    """Return the lessons that count: those of many students. One student alone decides nothing where there are others."""
    most = max(count.values(), default=0)
    least = max(SHARE * most, min(2, most))
    return sorted(lesson for lesson, students in count.items() if students >= least)
