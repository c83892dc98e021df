"""Reads a class's roster."""

import re
from datetime import datetime
from pathlib import Path

from course_utils.grading.ingest.class_settings import NO_ZONE, Settings, in_zone
from course_utils.grading.ingest.table import TableError, table, take_all
from course_utils.grading.storage.normalise import comparison_key, identifier
from course_utils.grading.storage.record import Person

COLUMNS = {  # what columns with a meaning may be called, in lower case
    "student": ("student", "student id", "student_id", "id", "username", "user"),
    "name": ("name", "full name", "student name"),
    "email": ("email", "e-mail", "email address", "mail"),
    "submitted": ("submitted", "submitted at", "submission time", "timestamp"),
    "file": ("file", "folder", "filename", "path"),
}
# Columns whose values must be unique, since gradebooks are imported by them; in lower case, without blanks and underscores.
OWN = ("email", "id", "canvasid", "moodleid", "ltiid", "ltiuserid", "userid", "sisuserid", "sisloginid", "idnumber")


def read_roster(path: Path, settings: Settings = Settings()) -> dict[str, Person]:  # noqa: B008
    """Read the class from a CSV file with a header: `student`, and perhaps `name`, `email`, `submitted`, `file`.

    Separated by commas, semicolons or tabs. Other columns, and `submitted` and `file`, are kept in `Person.other`.
    Raises `TableError`, also if the settings have a deadline and a time's offset from UTC is unknown.
    """
    header, rows = table(path, "The roster")
    columns = _columns(path, header)
    people, lines = {}, {}

    def take(line, fields):
        for column in columns.values():
            if "\n" in fields[column] or "\r" in fields[column]:
                raise TableError(
                    f'{path}, line {line}: the column "{column}" holds several lines: expected one, so perhaps a quote is not closed.'
                )
        fields = {name: value if name == columns.get("name") else identifier(value) for name, value in fields.items()}
        student = fields[columns["student"]]
        if student.lower() == "points possible":  # in Canvas's exports
            return
        if not student:
            raise TableError(
                f'{path}, line {line}: the column "{columns["student"]}" is empty: every row needs a student.'
            )
        _must_be_new(f"{path}, line {line}", "student", student, lines, line)
        people[student] = _person(student, fields, columns)
        for name, value in {**people[student].other, "email": people[student].email}.items():
            if re.sub(r"[\s_]", "", name).lower() in OWN and value:
                _must_be_new(f"{path}, line {line}", name, value, lines, line)
        text = people[student].other.get("submitted", "")
        try:
            time = submitted(people[student], settings)
        except ValueError:
            raise TableError(
                f'{path}, line {line}: "{text}" is no time: write it as 2026-11-20T23:59:00+01:00.'
            ) from None
        if settings.deadline and time and ":" not in text:
            raise TableError(f'{path}, line {line}: "{text}" has no time of day: write it as {text}T23:59:00+01:00.')
        if settings.deadline and time and time.tzinfo is None:
            raise TableError(f"{path}, line {line}: {time} has no offset from UTC, as in {time}+01:00. {NO_ZONE}")

    take_all(rows, take)
    if not people:
        raise TableError(f"{path} names no student: expected a header such as `student,name,email` and a row for each.")
    return people


def _must_be_new(where, column, value, lines, line):
    """Note the line of a column's value. Raises `TableError` if another line has the same value."""
    before = lines.setdefault((column, comparison_key(value)), line)
    if before != line:
        raise TableError(
            f'{where}: the {column} "{value}" is in line {before} already: keep one of them, or correct the other.'
        )


def submitted(person: Person, settings: Settings = Settings()) -> datetime | None:  # noqa: B008
    """Return when a person's work was handed in, according to the roster; None if it does not say. Raises `ValueError`."""
    text = person.other.get("submitted", "").removesuffix(" UTC")
    offset = "+00:00" if text != person.other.get("submitted", "") else ""
    return in_zone(datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text) + offset), settings.zone) if text else None


def _columns(path, header):
    """Return {meaning: the column's name in this file}."""
    lower = {name.lower(): name for name in header}
    columns = {}
    for meaning, names in COLUMNS.items():
        found = next((lower[name] for name in names if name in lower), None)
        if found is not None:
            columns[meaning] = found
    if "student" not in columns:
        names = ", ".join(filter(None, header)) or "nothing"
        raise TableError(
            f'{path} has no column "student": its first line must name the columns, it holds {names}.'[:500]
        )
    doubled = next((name for name in header if name and header.count(name) > 1), None)
    if doubled:
        raise TableError(f'{path} has two columns "{doubled}": rename one of them.')
    return columns


def _person(student, fields, columns):
    named = {meaning: fields[columns[meaning]] for meaning in columns}
    own = {columns[meaning] for meaning in columns}
    other = {name: value for name, value in fields.items() if name and name not in own}
    other |= {meaning: named[meaning] for meaning in ("submitted", "file") if meaning in named}
    return Person(student, named.get("name", ""), named.get("email", ""), other)
