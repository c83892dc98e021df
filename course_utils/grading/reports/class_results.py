"""Turns the journal's results, file by file, into a stream with a `Graded` for each student."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from course_utils.grading.ingest.overrides import NONE, Override
from course_utils.grading.ingest.roster import submitted
from course_utils.grading.ingest.submissions import RosterIndex, canvas_id, marked_late
from course_utils.grading.reports import points
from course_utils.grading.storage.journal import Journal
from course_utils.grading.storage.record import TO_BE_READ, Graded, Person, Result


def graded_class(
    journal: Journal, keys: list[str], roster: dict[str, Person], settings, lessons, overrides: dict[str, Override]
) -> Iterator[Graded]:
    """Yield a Graded for each student, in order.

    Args:
        journal: with a result for each key.
        keys: of all files, one student's after the other.
        roster: the class, {} for none.
        settings: the instructor's, from `ingest.class_settings.read_settings`.
        lessons: those that count.
        overrides: what the instructor has set by hand, by student.
    """
    known = RosterIndex(roster)
    for student, found in groupby((journal[key] for key in keys), key=lambda result: result.student):
        results = list(found)
        person = _with_canvas_id(roster.get(student) or Person(student), results)
        chosen = _result_per_lesson(student, results, lessons)
        late = any(marked_late(result.file) for result in chosen)
        one = points.graded(person, chosen, settings, submitted(person, settings), overrides.get(student, NONE), late)
        strays = tuple(sorted({result.lesson for result in results} - {"", *lessons}))
        stranger = bool(roster) and student not in roster
        resembled = known.resembled(student) if stranger else ""
        yield replace(one, other_lessons=strays, stranger=stranger, resembled=resembled)


def _with_canvas_id(person, results):
    """Return the person with Canvas's number from the download's file names, unless the roster has it."""
    numbers = {canvas_id(result.file) for result in results if result.file} - {""}
    return replace(person, other={"canvas_id": numbers.pop()} | person.other) if len(numbers) == 1 else person


def _result_per_lesson(student, results: list[Result], lessons):
    """Return the notebook of each lesson that counts, a stand-in if there is none, then what could not be graded.

    Of several for a lesson, it is the one with the most answers, the last among equals: an untouched copy does not win.
    """
    chosen, others = {}, []
    for result in results:
        if result.lesson in lessons:
            other = chosen.get(result.lesson)
            if other and _number_answered(other) > _number_answered(result):
                result, other = other, result
            if other:
                remark = (
                    f"Of your notebooks for lesson {result.lesson}, {result.file} was graded and {other.file} was not: the one with the "
                    "most answers counts, or else the last."
                )
                result = replace(result, remarks=(remark, *result.remarks))
            chosen[result.lesson] = result
        elif result.lesson:
            problem = f"It is for lesson {result.lesson}, which is not graded here."
            others.append(replace(result, problem=problem, verdicts=()))
        else:
            others.append(result)
    absent = [lesson for lesson in lessons if lesson not in chosen]
    stand_ins = [
        Result("", student, "", lesson, why)
        for lesson, why in zip(absent, _absence_sentences(results, absent), strict=True)
    ]
    return [*chosen.values(), *stand_ins, *(result for result in others if result.file)]


def _absence_sentences(results, absent):
    """Return a sentence for each lesson without a notebook; "" if something else says it already."""
    files = [result for result in results if result.file]
    if not files:  # one sentence for all, such as "The folder holds no notebook."
        return [next((result.problem for result in results), "Nothing was handed in."), *[""] * len(absent)][
            : len(absent)
        ]
    if any(result.problem and not result.lesson for result in files):  # it may have been for any of them
        return [""] * len(absent)
    return [f"Nothing was handed in for lesson {lesson}." for lesson in absent]


def _number_answered(result):
    """Return how many tasks a notebook answers, right or wrong."""
    return sum(verdict.state in ("passed", "failed", "error", TO_BE_READ) for verdict in result.verdicts)
