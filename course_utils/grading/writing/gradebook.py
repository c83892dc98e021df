"""Puts a class together: from the journal's results, file by file, to a `Graded` for each student, in a stream."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from course_utils.grading.keeping.journal import Journal
from course_utils.grading.keeping.record import Graded, Person, Result
from course_utils.grading.reading.submissions import submitted
from course_utils.grading.writing import points


def graded_class(journal: Journal, keys: list[str], roster: dict[str, Person], settings, lessons) -> Iterator[Graded]:
    """Return a Graded for each student, in order.

    Args:
        journal: with a result for each key.
        keys: of all files, one student's after the other.
        roster: the class, {} for none.
        settings: the instructor's, from `reading.settings.read_settings`.
        lessons: those that count.
    """
    for student, results in groupby((journal[key] for key in keys), key=lambda result: result.student):
        person = roster.get(student) or Person(student)
        yield points.graded(person, _one_a_lesson(student, list(results), lessons), settings, submitted(person))


def _one_a_lesson(student, results: list[Result], lessons):
    """Return the last notebook of each lesson that counts, a stand-in where there is none, then what could not be graded."""
    chosen, others = {}, []
    for result in results:
        if result.lesson in lessons:
            if result.lesson in chosen:
                earlier = f"{chosen[result.lesson].file} is for the same lesson; the last in order of names is graded."
                result = replace(result, remarks=(earlier, *result.remarks))
            chosen[result.lesson] = result
        elif result.lesson:
            others.append(
                replace(result, problem=f"It is for lesson {result.lesson}, which is not graded here.", verdicts=())
            )
        elif result.file or result.problem:
            others.append(result)
    nothing = [
        Result("", student, "", lesson, f"Nothing was handed in for lesson {lesson}.")
        for lesson in lessons
        if lesson not in chosen
    ]
    return [*chosen.values(), *nothing, *(result for result in others if result.file)]
