"""What an instructor sets by hand: points of a task, a longer deadline, a comment. One CSV file, kept beside the submissions.

    student,task,points,extension,comment
    ada,03.attention,4,,Explained it to me in my office.
    emmy,,,2026-11-27T23:59:00+01:00,Was ill.

A date alone, such as 2026-11-27, is an extension to the end of that day in the class's time zone.
It is read at each grading and stored nowhere else, so what is set holds however often a class is graded.
"""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.sanitise import cut
from course_utils.base.words import did_you_mean
from course_utils.grading.ingest.class_settings import (
    DAY_ENDS,
    MOST,
    NO_ZONE,
    Settings,
    day_or_time,
    in_zone,
    known_ids,
)
from course_utils.grading.ingest.submissions import unambiguous
from course_utils.grading.ingest.table import raise_all, records, take_all
from course_utils.grading.storage.normalise import comparison_key, from_cell, identifier

COLUMNS = ("student", "task", "points", "extension", "comment")
COMMENT_AT_MOST = 600  # characters


class OverrideError(CourseError):
    """One sentence about the file: the line, what was expected, what is there."""


@dataclass
class Override:
    """What is set for one student."""

    points: dict[str, Decimal] = field(default_factory=dict)  # by task
    comments: dict[str, str] = field(default_factory=dict)  # by task; "" for a comment on the whole
    deadline: datetime | None = None  # instead of the class's


NONE = Override()


def read_overrides(path: Path, students: set[str], settings: Settings) -> dict[str, Override]:
    """Read what is set by hand, by student. Raises `OverrideError` or `TableError`.

    Args:
        path: the CSV file, with a header.
        students: everybody who is on the roster or has handed something in.
        settings: the class's, whose deadline may be extended.
    """
    found, seen, in_words = {}, {}, [question.id for question in settings.written]
    known, by_spelling = known_ids() + in_words, unambiguous((comparison_key(name), name) for name in students)

    def named(text):
        """Return the student, even if the text has our tables' apostrophe or different capitals; else the text."""
        found = (by_spelling.get(comparison_key(name)) for name in (from_cell(text), text))
        return next((name for name in (from_cell(text), text, *found) if name in students), identifier(text))

    def is_row(fields):
        return fields["task"] in known or (named(fields["student"]) in students and not fields["task"])

    def take(line, row):
        where, student, task = f"{path}, line {line}", named(row["student"]), identifier(row["task"])
        row |= {column: identifier(row[column]) for column in ("task", "points", "extension")}
        if student not in students:
            like = did_you_mean(student, students)
            raise OverrideError(f'{where}: "{student}" is not on the roster and has handed in nothing{like}.')
        if (student, task) in seen:
            raise OverrideError(
                f'{where}: "{student}"{task and f" and {task}"} are in line {seen[student, task]} already.'
            )
        seen[student, task] = line
        if task in in_words and not (row["points"] or row["extension"] or row["comment"]):
            return  # as in to-read.csv: still to be read
        _take(found.setdefault(student, Override()), row, where, settings, known)

    take_all(records(path, "The file of overrides", COLUMNS, is_row), take)
    return found


def must_have_effect(overrides: dict[str, Override], counted: list, settings: Settings) -> None:
    """Raise `OverrideError` for points or comments for a task that does not count, or more points than it is worth."""
    worth, errors = {task.id: settings.worth(task) for task in counted}, []
    for student, override in overrides.items():
        named = f'The overrides of "{student}"'
        errors += [
            OverrideError(f"{named}: {task} does not count here, so nothing can be set for it.")
            for task in sorted({*override.points, *override.comments} - {"", *worth})
        ]
        errors += [
            OverrideError(f"{named}: {task} is worth {worth[task]} points, not {points}.")
            for task, points in override.points.items()
            if points > worth.get(task, points)
        ]
    raise_all(errors)


def _take(override, row, where, settings, known):
    task, comment = row["task"], cut(row["comment"], COMMENT_AT_MOST)
    if task and task not in known:
        raise OverrideError(f'{where}: there is no task "{task}"{did_you_mean(task, known)}.')
    if row["points"]:
        if not task:
            raise OverrideError(f"{where}: points belong to a task: name it in the column task.")
        override.points[task] = _points(row["points"], where)
    if row["extension"]:
        if task or settings.deadline is None:
            missing = (
                "the settings have no [late] deadline to be extended" if not task else "leave the column task empty"
            )
            raise OverrideError(f"{where}: an extension holds for all that a student hands in: {missing}.")
        override.deadline = _time(row["extension"], where, settings.zone)
        if override.deadline < settings.deadline:
            raise OverrideError(f"{where}: the extension ends before the class's deadline, {settings.deadline}.")
    if comment:
        override.comments[task] = comment
    if not (row["points"] or row["extension"] or comment):
        raise OverrideError(f"{where}: it sets nothing: give points, an extension or a comment.")


def _points(text, where):
    try:
        points = Decimal(text.replace(",", "."))
    except InvalidOperation:
        points = None
    if points is None or not points.is_finite() or not 0 <= points <= MOST:
        raise OverrideError(f'{where}: points must be a number from 0 to {MOST}, not "{text}".')
    return points


def _time(text, where, zone):
    try:
        time = in_zone(day_or_time(text.replace("Z", "+00:00")), zone, DAY_ENDS)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise OverrideError(
            f'{where}: an extension is the new deadline, a time with its offset from UTC such as 2026-11-27T23:59:00+01:00, not "{text}". {NO_ZONE}'
        )
    return time
