"""Puts the lessons of a term side by side, from the results of each: one table for the instructor, as a page and as CSV."""

from itertools import chain
from itertools import count as count_from
from math import isfinite
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.files import opened
from course_utils.grading.ingest.submissions import natural
from course_utils.grading.ingest.table import TableError
from course_utils.grading.ingest.table import table as read_table
from course_utils.grading.reports.exports import table
from course_utils.grading.reports.markup import template
from course_utils.grading.storage.normalise import from_cell


def write_term(results: list[Path], out: Path) -> list[Path]:
    """Write term.html and term.csv into `out`, a column for each folder of results; return their paths. Raises `CourseError`."""
    possible, names, points = {}, {}, {}  # by column; by student; by student and column
    for folder in dict.fromkeys(results):
        header, rows = _grades(folder)
        column = _unique_title(_lessons_text(header) or folder.name, folder, possible)
        possible[column] = max((float(row["possible"]) for row in rows), default=0.0)
        for row in rows:
            student = from_cell(row["student"])
            names[student] = names.get(student) or from_cell(row["name"])
            points[student, column] = float(row["total"])
    students = [
        (student, names[student], [points.get((student, column)) for column in possible])
        for student in sorted(names, key=natural)
    ]
    out.mkdir(parents=True, exist_ok=True)
    with opened(out / "term.csv", "utf-8-sig") as file:
        write = table(file)
        write(["student", "name", *possible, "total", "possible"])
        for student, name, row in students:
            write([student, name, *("" if its is None else its for its in row), _sum(row), sum(possible.values())])
    with opened(out / "term.html") as file:
        columns = list(zip(*(row for *_, row in students), strict=True)) or [()] * len(possible)
        file.write(
            template("term.html").render(
                title="The term",
                columns=[(*of, _mean(its)) for of, its in zip(possible.items(), columns, strict=True)],
                rows=[(*student, _sum(student[-1])) for student in students],
                possible=sum(possible.values()),
                mean=_mean([_sum(row) for *_, row in students]),
            )
        )
    return [out / "term.html", out / "term.csv"]


def _grades(folder):
    """Return the header and the rows of a folder's grades.csv."""
    path = folder / "grades.csv"
    try:
        header, rows = read_table(path, "The table of grades")
        students = [fields for _, fields in rows]
        for row in students:
            if not isfinite(float(row["total"]) + float(row["possible"])) or not row["student"] + row["name"]:
                raise ValueError
        return header, students
    except TableError as error:
        raise CourseError(f"{error} Name folders of results that `course grade` has written.") from None
    except (KeyError, ValueError):
        raise CourseError(
            f"{path} is no table of grades that `course grade` has written: grade that lesson again."
        ) from None


def _lessons_text(header):
    """Return a name such as "Lesson 03", from the columns of tasks."""
    numbers = sorted({name.partition(".")[0] for name in header if name.endswith(" points") and "." in name})
    return f"Lesson{'s' * (len(numbers) > 1)} {', '.join(numbers)}" if numbers else ""


def _unique_title(title, folder, taken):
    """Return a title that no other folder has: with the folder's name, with its whole path, or with a number."""
    names = [title, f"{title} ({folder.name})", f"{title} ({folder.as_posix()})"]
    numbered = (f"{title} ({n})" for n in count_from(2))
    return next(name for name in chain(names, numbered) if name not in taken)


def _sum(points):
    return sum(filter(None, points))


def _mean(points):
    found = [its for its in points if its is not None]
    return sum(found) / len(found) if found else None
