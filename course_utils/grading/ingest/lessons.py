"""Guesses which lessons a class has handed in, if nobody says so, and which of a student's notebooks are worth running.

Notebooks are read as text before anything runs, and only so many of each student's and of a large class.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby

from course_utils.authoring.sources import CHECK
from course_utils.checks import catalogue
from course_utils.grading.ingest import notebook_file
from course_utils.grading.ingest.notebook_file import Notebook, Unreadable, definition, fingerprint, read_notebook
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.ingest.tampering import PROMPT

STUDENTS = 500  # whose notebooks are counted, spread evenly over a larger class
NOTEBOOKS = 10  # of a student's that are looked at
KEPT = 2  # of a student's notebooks for one lesson that are run
UNREAD = 6  # that are run although they could not be read here
OTHERS = 2  # lessons that do not count of which a notebook is run
LARGEST = 2_000_000  # bytes of a notebook that is looked at, of a student who has handed in many
PREDICTED = re.compile(r"^predict\(", re.MULTILINE)  # mostly found in lessons
SHARE = 0.5  # of the students with the most common lesson: a lesson that fewer handed in does not count


@cache
def names_by_lesson() -> dict[str, list[str]]:
    """Return {"03": ["padding_mask", …], …}: what the exercises ask to be defined."""
    return {lesson: [task.answer_name for task in of] for lesson, of in catalogue.by_lesson().items()}


def refuse_the_lesson(notebook: Notebook) -> None:
    """Raise `Unreadable` for a lesson's own notebook: it asks for predictions and checks its questions, but has no task's check or prompt."""
    tasks = {each.id for each in catalogue.by_lesson().get(notebook.lesson, ())}
    questions = {each.id for each in catalogue.questions_of(notebook.lesson)}
    checked = {found for cell in notebook.cells for found in CHECK.findall(cell)}
    prompts = {found[1] for _, text in notebook.titled if (found := PROMPT.match(text))}
    predicts = any(PREDICTED.search(cell) for cell in notebook.cells)
    if predicts and checked & questions and not (checked | prompts) & tasks:
        raise Unreadable(
            f"This is lesson {notebook.lesson} itself: your answers are in the notebook of its exercises, so hand in that one."
        )


def count_lessons(found: Iterable[Found]) -> Counter:
    """Return, for each lesson, how many of the students looked at have handed in a notebook.

    Args:
        found: all files, one student's after the other.
    """
    students = [[one for one in files if one.file] for _, files in groupby(found, key=lambda one: one.student)]
    count = Counter()
    for files in students[:: max(1, -(-len(students) // STUDENTS))]:
        count.update({_notebook_or_empty(one, notebook_file.LARGEST).lesson for one in files[-NOTEBOOKS:]} - {""})
    return count


def _notebook_or_empty(found, largest):
    """Return a notebook; one without cells and lesson if it cannot be read here."""
    try:
        return read_notebook(found.path, names_by_lesson(), largest)
    except Unreadable:
        return Notebook((), "")


def worth_running(found: Iterable[Found], counted: list[str]) -> Iterator[Found]:
    """Yield the files; of a student with many, only `KEPT` for each lesson that counts and one for each of `OTHERS` other lessons.

    Those with the most answers are kept, the last among equals; of those that cannot be read here, up to `UNREAD`.
    """
    for _, files in groupby(found, key=lambda one: one.student):
        files = list(files)
        if len(files) <= KEPT:
            yield from files
            continue
        places = defaultdict(list)  # {lesson: [(answers, place), …]}
        for place, one in enumerate(files):
            notebook = _notebook_or_empty(one, LARGEST)
            names = names_by_lesson().get(notebook.lesson, ())
            answers = sum(bool(fingerprint(definition(notebook.cells, name))) for name in names)
            places[notebook.lesson].append((answers, place))
        chosen, others = set(), sorted(lesson for lesson in places if lesson and lesson not in counted)
        for lesson in others[OTHERS:]:
            del places[lesson]
        for lesson, several in places.items():
            most = UNREAD if not lesson else KEPT if lesson in counted else 1
            best = {place for _, place in sorted(several)[-most:]}
            left = len(several) - len(best)
            if left:
                note = f"{left} more notebooks of the same lesson were handed in; those with most answers are run."
                files[max(best)] = replace(files[max(best)], note=f"{files[max(best)].note} {note}".strip())
            chosen |= best
        yield from (files[place] for place in sorted(chosen))


def guess_lessons(count: Counter) -> list[str]:
    """Return the lessons that count: those that many students handed in. Two students are not enough if a lesson has more."""
    most = max(count.values(), default=0)
    least = max(SHARE * most, min(3, most))
    return sorted(lesson for lesson, students in count.items() if students >= least)
