"""Puts the lessons of a term side by side, from the results of each: one table for the instructor, as a page and as CSV."""

import csv
from dataclasses import dataclass, field
from itertools import chain
from itertools import count as count_from
from math import isfinite
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.files import opened
from course_utils.grading.keeping.texts import cell, from_cell
from course_utils.grading.reading.submissions import natural
from course_utils.grading.writing.markup import template
from course_utils.grading.writing.results import number, table


@dataclass
class Row:
    """A student: the points of each folder of results, None where there is no row there."""

    name: str = ""
    points: dict[str, float] = field(default_factory=dict)


def write_term(results: list[Path], out: Path) -> list[Path]:
    """Write term.html and term.csv into `out`, a column for each folder of results; return their paths. Raises `CourseError`."""
    titles, possible, students = {}, {}, {}
    for folder in dict.fromkeys(results):
        header, rows = _grades(folder)
        title = _unique(_lessons(header) or folder.name, folder, set(titles.values()))
        titles[folder] = title
        for row in rows:
            one = students.setdefault(from_cell(row["student"]), Row())
            one.name = one.name or from_cell(row["name"])
            one.points[title] = float(row["total"])
            possible[title] = max(possible.get(title, 0.0), float(row["possible"]))
    columns = list(titles.values())
    order = sorted(students, key=natural)
    out.mkdir(parents=True, exist_ok=True)
    _write_csv(out / "term.csv", columns, possible, [(student, students[student]) for student in order])
    with opened(out / "term.html") as file:
        file.write(_page(columns, possible, [(student, students[student]) for student in order]))
    return [out / "term.html", out / "term.csv"]


def _grades(folder):
    """Return the header and the rows of a folder's grades.csv."""
    path = folder / "grades.csv"
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
            for row in rows:
                if not isfinite(float(row["total"]) + float(row["possible"])) or not row["student"] + row["name"]:
                    raise ValueError
            return reader.fieldnames or [], rows
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read ({error.strerror}): name folders of results that `course grade` has written."
        ) from None
    except (KeyError, TypeError, ValueError, csv.Error):
        raise CourseError(
            f"{path} is no table of grades that `course grade` has written: grade that lesson again."
        ) from None


def _lessons(header):
    """Return such as "Lesson 03", from the columns of tasks."""
    numbers = sorted({name.partition(".")[0] for name in header if name.endswith(" points") and "." in name})
    return f"Lesson{'s' * (len(numbers) > 1)} {', '.join(numbers)}" if numbers else ""


def _unique(title, folder, taken):
    """Return a title that no other folder has: with the folder's name, with its whole path, or with a number."""
    names = [title, f"{title} ({folder.name})", f"{title} ({folder.as_posix()})"]
    numbered = (f"{title} ({n})" for n in count_from(2))
    return next(name for name in chain(names, numbered) if name not in taken)


def _sum(row, columns):
    return sum(row.points.get(title, 0.0) for title in columns)


def _write_csv(path, columns, possible, rows):
    with opened(path, "utf-8-sig") as file:
        writer = table(file)
        writer.writerow(["student", "name", *map(cell, columns), "total", "possible"])
        most = number(sum(possible.values()))
        for student, row in rows:
            points = [number(row.points[title]) if title in row.points else "" for title in columns]
            writer.writerow([cell(student), cell(row.name), *points, number(_sum(row, columns)), most])


def _page(columns, possible, rows):
    totals = [_sum(row, columns) for _, row in rows]
    return template("term.html").render(
        title="The term",
        columns=[(title, possible.get(title, 0), _mean(rows, title)) for title in columns],
        rows=[
            (student, row.name, [row.points.get(title) for title in columns], total)
            for (student, row), total in zip(rows, totals, strict=True)
        ],
        possible_in_all=sum(possible.values()),
        mean_in_all=sum(totals) / len(totals) if totals else None,
    )


def _mean(rows, title):
    found = [row.points[title] for _, row in rows if title in row.points]
    return sum(found) / len(found) if found else 0
