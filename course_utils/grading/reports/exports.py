"""Writes the results that other programs read: gradebooks as CSV, scores for Gradescope and LTI as JSON.

All are written in one pass over a stream of `Graded`, a student at a time, and the same input gives the same bytes.
Also here: `table`, which writes all the course's tables, and safe file names.
Not here: points (`points`), what is said (`sentences`), pages (`pages`).
"""

import csv
import hashlib
import json
import re
import unicodedata
from collections import namedtuple
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path
from typing import TextIO

from course_utils.base.files import opened
from course_utils.base.sanitise import clean
from course_utils.grading.reports.sentences import (
    by_lesson,
    fitted,
    handed_in,
    hint,
    notes,
    number,
    on_stranger,
    on_task,
    on_the_whole,
    passed_in_words,
    problems,
    set_by_hand,
    verdicts,
)
from course_utils.grading.storage.normalise import cell
from course_utils.grading.storage.record import TO_BE_READ, Graded

# What each table has under its headings. For a student, in grades.csv: first this, then OF_TASK for each task, then SAID.
GRADES = {
    "student": lambda one: one.person.student,
    "name": lambda one: one.person.name,
    "email": lambda one: one.person.email,
    "total": lambda one: one.total,
    "possible": lambda one: one.possible,
    "lost": lambda one: one.lost,
    "late": lambda one: one.late,
    "by hand": lambda one: "; ".join(set_by_hand(one)),
    "problem": lambda one: " | ".join(problems(one)),
}
OF_TASK = ("points", "state", "mistake")
SAID = {
    "remarks": lambda one: " | ".join(notes(one, "remarks")),
    "noticed": lambda one: " | ".join([*notes(one, "noticed"), *on_stranger(one)]),
    "suspicions": lambda one: " | ".join(notes(one, "suspicions")),
}
Lesson = namedtuple("Lesson", "number points lost possible")  # a student's; lost: for lateness
# For a student and a lesson, as in nbgrader 0.9's CsvExportPlugin, nbgrader/plugins/export.py.
NBGRADER = {
    "assignment": lambda one, lesson: lesson.number,
    "duedate": lambda one, lesson: "",
    "timestamp": lambda one, lesson: _roster_column(one, "submitted"),
    "student_id": lambda one, lesson: one.person.student,
    "last_name": lambda one, lesson: _first_and_last_name(one)[1],
    "first_name": lambda one, lesson: _first_and_last_name(one)[0],
    "email": lambda one, lesson: one.person.email,
    "raw_score": lambda one, lesson: lesson.points,
    "late_submission_penalty": lambda one, lesson: lesson.lost,
    "score": lambda one, lesson: max(0.0, lesson.points - lesson.lost),
    "max_score": lambda one, lesson: lesson.possible,
}
# For a student, as canvas-lms' lib/gradebook_importer.rb expects it; the points follow. Canvas looks up a student by
# ID, SIS User ID, SIS Login ID and name: without any of the three IDs, the identifier is the login.
CANVAS_IDS = ("canvas_id", "id", "sis_user_id", "sis_login_id")
CANVAS = {
    "Student": lambda one: one.person.name or one.person.student,
    "ID": lambda one: _roster_column(one, "canvas_id", "id"),
    "SIS User ID": lambda one: _roster_column(one, "sis_user_id"),
    "SIS Login ID": lambda one: (
        _roster_column(one, "sis_login_id") if _roster_column(one, *CANVAS_IDS) else one.person.student
    ),
    "Section": lambda one: _roster_column(one, "section"),
}
# For a student, with the headings of Moodle's own exports; the points follow. Whoever imports the file maps the ID number or the e-mail address
# to its field (docs.moodle.org, Grade import), where the case of an address counts.
MOODLE = {
    "First name": lambda one: _first_and_last_name(one)[0],
    "Last name": lambda one: _first_and_last_name(one)[1],
    "Username": lambda one: one.person.student,
    "ID number": lambda one: _roster_column(one, "id_number", "id"),
    "Email address": lambda one: one.person.email,
}

RESERVED = re.compile(r"(con|prn|aux|nul|index|(com|lpt)[0-9])(\.|\Z)", re.IGNORECASE)  # the first part, on Windows
PLAIN_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,59}")
HASHED_NAME = re.compile(r".*-[0-9a-f]{10}")


def write_all(
    out: Path, graded: Iterable[Graded], tasks: list, title: str, at: datetime, canvas: int | None = None
) -> list[Path]:
    """Write grades.csv, nbgrader.csv, canvas.csv, moodle.csv, ags.json and gradescope/*.json; return their paths, the last a folder.

    A file is replaced as a whole or not at all.

    Args:
        out: the folder of results, created if missing.
        graded: one for each student, in the order of the rows; read once.
        tasks: the Tasks that count, in the order of the columns.
        title: the name of the assignment in a gradebook.
        at: when grading began, with its time zone. AGS asks for a time, and a platform keeps the latest score.
        canvas: the assignment's ID there, if it has one already.
    """
    if at.tzinfo is None:
        raise ValueError("at must have a time zone, as in datetime.now(timezone.utc)")
    graded = iter(graded)
    first = next(graded, None)
    (out / "gradescope").mkdir(parents=True, exist_ok=True)
    paths = [
        out / name for name in ("grades.csv", "nbgrader.csv", "canvas.csv", "moodle.csv", "ags.json", "gradescope")
    ]
    with (
        opened(paths[0], "utf-8-sig") as for_grades,  # a byte order mark tells Excel that the table is UTF-8
        opened(paths[1]) as for_nbgrader,
        opened(paths[2]) as for_canvas,
        opened(paths[3]) as for_moodle,
        opened(paths[4]) as scores,
    ):
        grades, nbgrader, gradebook, moodle = map(table, (for_grades, for_nbgrader, for_canvas, for_moodle))
        grades([*GRADES, *(f"{task.id} {what}" for task in tasks for what in OF_TASK), *SAID])
        nbgrader(NBGRADER)
        gradebook([*CANVAS, title if canvas is None else f"{title} ({canvas})"])
        gradebook(["    Points Possible", *[""] * (len(CANVAS) - 1), first.possible if first else 0])
        moodle([*MOODLE, title])
        scores.write("[")
        for i, one in enumerate(chain([first] if first else [], graded)):
            rows = list(verdicts(one, tasks))
            of_tasks = chain.from_iterable((its.points, verdict.state, verdict.mistake) for _, verdict, its in rows)
            grades([*(of(one) for of in GRADES.values()), *of_tasks, *(of(one) for of in SAID.values())])
            for lesson in _lesson_points(one, rows):
                nbgrader(of(one, lesson) for of in NBGRADER.values())
            gradebook([*(of(one) for of in CANVAS.values()), one.total])
            moodle([*(of(one) for of in MOODLE.values()), one.total])
            scores.write((",\n" if i else "\n") + _json(_ags_score(one, rows, at)))
            with opened(out / "gradescope" / f"{file_name(one.person.student)}.json") as file:
                file.write(_json(_gradescope_results(one, rows), indent=1) + "\n")
        scores.write("\n]\n")
    return paths


def table(file: TextIO) -> Callable[[Iterable], object]:
    """Return a function that writes a row of CSV as in all our tables: lines end as in RFC 4180, and texts are in quotes.

    Texts are made fit for a spreadsheet here, so that no column can be forgotten; numbers have at most two decimals.
    """
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    return lambda row: writer.writerow([cell(value) if isinstance(value, str) else number(value) for value in row])


def file_name(student: str) -> str:
    """Return a name for a student's files, without an extension: the identifier if it can be one, else with a hash.

    It is ASCII, no path, not reserved on Windows, at most 72 characters long, and differs between identifiers even
    if case is ignored. It depends on nothing but the identifier.
    """
    if PLAIN_NAME.fullmatch(student) and not HASHED_NAME.fullmatch(student) and not RESERVED.match(student):
        return student
    ascii_only = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
    readable = re.sub("[^A-Za-z0-9_.-]+", "_", ascii_only).lstrip("._-")[:60] or "student"
    if RESERVED.match(readable):
        readable = f"_{readable}"
    return f"{readable}-{hashlib.sha256(student.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def _lesson_points(graded, rows):
    """Yield a Lesson each. Points lost for lateness are shared among lessons in proportion to their points, to the cent."""
    lessons = by_lesson(rows)
    earned = [sum(points.points for *_, points in its) for _, its in lessons]
    lost, before = min(graded.lost, sum(earned)), 0
    for (lesson, its), points in zip(lessons, earned, strict=True):
        share, shared = (round(lost * part / (sum(earned) or 1), 2) for part in (before + points, before))
        yield Lesson(lesson, points, share - shared, sum(points.possible for *_, points in its))
        before += points


def _first_and_last_name(graded):
    """Return first and last name: the roster's columns, else the name split at a comma or the last blank."""
    first, last = _roster_column(graded, "first_name"), _roster_column(graded, "last_name")
    if first or last:
        return first, last
    name = graded.person.name.strip()
    (last, _, first) = name.partition(",") if "," in name else name.rpartition(" ")[::-1]
    return first.strip(), last.strip()


def _roster_column(graded, *names):
    """Return the roster's other column with one of these names, ignoring case, blanks and underscores, or ""."""
    plain = {re.sub(r"[\s_]", "", column).lower(): value for column, value in graded.person.other.items()}
    return next(filter(None, (plain.get(name.replace("_", "")) for name in names)), "")


def _ags_score(graded, rows, at):
    """Return a Score, as LTI Assignment and Grade Services 2.0 expects it POSTed to a line item's /scores."""
    to_look_at = problems(graded) or any(verdict.state == TO_BE_READ for _, verdict, _ in rows)
    score = {
        "userId": clean(_roster_column(graded, "lti_id", "lti_user_id", "user_id") or graded.person.student),
        "timestamp": at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "activityProgress": "Completed" if handed_in(graded) else "Initialized",
        "gradingProgress": "PendingManual" if to_look_at else "FullyGraded",
        "comment": fitted(f"{passed_in_words(rows)} {graded.late}".strip()),
    }
    if graded.possible > 0:  # a maximum of 0 is not allowed
        score |= {"scoreGiven": number(graded.total), "scoreMaximum": number(graded.possible)}
    return score


def _gradescope_results(graded, rows):
    """Return the results.json of one submission, see https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format.

    `score` counts, not the sum of the tests: lateness is already taken off.
    """
    return {
        "score": number(graded.total),
        **_gradescope_output([*problems(graded), *on_the_whole(graded), *notes(graded, "remarks")]),
        "stdout_visibility": "hidden",
        "tests": [_gradescope_test(*row) for row in rows],
    }


def _gradescope_test(task, verdict, points):
    texts, first_hint = on_task(verdict, points), hint(task, verdict)
    status = {} if verdict.state == TO_BE_READ else {"status": "passed" if verdict.state == "passed" else "failed"}
    return {
        "name": f"{task.id} {task.title}",
        "name_format": "text",
        "score": number(points.points),
        "max_score": number(points.possible),
        **status,
        **_gradescope_output([f"{verdict.state}: {texts[0]}", *texts[1:], *[f"Hint: {first_hint}"] * bool(first_hint)]),
    }


def _gradescope_output(texts):
    """Return texts as Gradescope shows them to a student, one per line."""
    output = "\n".join(fitted(text) for text in texts if text)
    return {"output": output, "output_format": "text", "visibility": "visible"}


def _json(value, indent=None):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
