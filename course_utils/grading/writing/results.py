"""Writes the results that other programs read: gradebooks as CSV, scores for Gradescope and LTI as JSON.

All are written in one pass over a stream of `Graded`, a student at a time, and the same input gives the same bytes.
Also here, for the pages too: file names that are safe, and what is said on each task.
Not here: points (`points`), pages (`pages`).
"""

import csv
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path
from typing import TextIO

from course_utils.base.files import opened
from course_utils.base.texts import clean, cut
from course_utils.grading.keeping.record import READ, TO_BE_READ, Graded, Person, Points, Verdict
from course_utils.grading.keeping.texts import cell
from course_utils.grading.reading.written import ANSWER, Written

NOTHING = "not handed in"  # the state of a task whose lesson a student handed nothing in for
TEXT_AT_MOST = 600  # characters of a sentence shown to a student; an exception's message can be of any length

# The columns of nbgrader 0.9's CsvExportPlugin, nbgrader/plugins/export.py.
NBGRADER = "assignment duedate timestamp student_id last_name first_name email".split()
NBGRADER += "raw_score late_submission_penalty score max_score".split()
# The first columns of a Canvas gradebook, as canvas-lms' lib/gradebook_importer.rb expects them.
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]

KINDS = ("remarks", "noticed", "suspicions")  # of what is said on a notebook: students see remarks alone
RESERVED = {"con", "prn", "aux", "nul", "index", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
PLAIN_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,59}")
HASHED_NAME = re.compile(r".*-[0-9a-f]{10}")


def write_all(
    out: Path, graded: Iterable[Graded], tasks: list, title: str, at: datetime, canvas: int | None = None
) -> list[Path]:
    """Write grades.csv, nbgrader.csv, canvas.csv, ags.json and gradescope/*.json; return their paths, the last a folder.

    A file is replaced as a whole or not at all.

    Args:
        out: the folder of results, made where there is none.
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
    paths = [out / name for name in ("grades.csv", "nbgrader.csv", "canvas.csv", "ags.json")]
    with ExitStack() as stack:
        # The mark at the beginning tells Excel that the table is UTF-8.
        encodings = ("utf-8-sig", "utf-8", "utf-8", "utf-8")
        files = [stack.enter_context(opened(path, encoding)) for path, encoding in zip(paths, encodings, strict=True)]
        grades, nbgrader, gradebook = (table(file) for file in files[:3])
        grades.writerow(_grades_header(tasks))
        nbgrader.writerow(NBGRADER)
        gradebook.writerow([*CANVAS, cell(title if canvas is None else f"{title} ({canvas})")])
        gradebook.writerow(["    Points Possible", "", "", "", "", number(first.possible if first else 0)])
        files[3].write("[")
        for i, student in enumerate(chain([first] if first else [], graded)):
            grades.writerow(_grades_row(student, tasks))
            nbgrader.writerows(_nbgrader_rows(student, tasks))
            gradebook.writerow(_canvas_row(student))
            files[3].write((",\n" if i else "\n") + _json(_score(student, tasks, at)))
            with opened(out / "gradescope" / f"{file_name(student.person.student)}.json") as file:
                file.write(_json(_gradescope(student, tasks), indent=1) + "\n")
        files[3].write("\n]\n")
    return [*paths, out / "gradescope"]


def number(value: float) -> int | float:
    """Return a number with at most two decimals, without ".0"."""
    rounded = round(float(value), 2)
    return int(rounded) if rounded == int(rounded) else rounded


def file_name(student: str) -> str:
    """Return a name for a student's files, without an ending: the identifier where it can be one, else with a hash.

    It is ASCII, no path, not reserved on Windows, at most 71 characters long, and differs between identifiers also
    where capitals don't count. It depends on nothing but the identifier.
    """
    if PLAIN_NAME.fullmatch(student) and not HASHED_NAME.fullmatch(student) and _stem(student) not in RESERVED:
        return student
    ascii_only = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
    readable = re.sub("[^A-Za-z0-9_.-]+", "_", ascii_only).lstrip("._-")[:60] or "student"
    if _stem(readable) in RESERVED:
        readable = f"_{readable}"
    return f"{readable}-{hashlib.sha256(student.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def _stem(name):
    """Return the part of a name that Windows looks at."""
    return name.partition(".")[0].lower()


def verdicts(graded: Graded, tasks: list) -> Iterator[tuple]:
    """Yield (task, its Verdict, its Points) for each task, also where grading came to no verdict."""
    known = {  # a notebook says nothing on another lesson
        verdict.task: verdict
        for result in graded.results
        for verdict in result.verdicts
        if verdict.task.startswith(f"{result.lesson}.")
    }
    points = {points.task: points for points in graded.points}
    for task in tasks:
        none = Points(task.id, 0, getattr(task, "points", 1))
        its, verdict = points.get(task.id, none), known.get(task.id) or _no_verdict(graded, task)
        yield task, _read(verdict, its) if its.read else verdict, its


def _no_verdict(graded, task):
    lesson = task.id.partition(".")[0]
    handed_in = [result for result in graded.results if result.file and result.lesson in (lesson, "")]
    if any(result.problem for result in handed_in):
        return Verdict(task.id, "not run", message=f"No notebook of lesson {lesson} could be read.")
    if any(result.lesson for result in handed_in):
        nothing = f"No text cell begins with **{ANSWER} {task.id}:** and goes on." if isinstance(task, Written) else ""
        return Verdict(task.id, "missing", message=nothing)
    return Verdict(task.id, NOTHING)


def _read(verdict, points):
    """Return the verdict on an answer in words that a person has read, or for which there are points without one."""
    state = "passed" if points.points >= points.possible else READ
    return replace(verdict, state=state, message="Your instructor has read your answer.")


def why(verdict: Verdict) -> str:
    """Return the sentence that tells a student why the task has this state; where code is, it is in backquotes."""
    lesson, _, name = verdict.task.partition(".")
    if verdict.message:
        return cut(clean(verdict.message), TEXT_AT_MOST)
    return {
        "passed": "Right, on every input it was tried on.",
        "not attempted": "There was nothing to grade: no answer is in place of `raise NotImplementedError`.",
        "missing": f"Nothing named `{name}` was found in the notebook.",
        "not run": "It could not be run.",
        TO_BE_READ: "Your instructor has not read your answer yet. Its points are still to come.",
        NOTHING: f"No notebook of lesson {lesson} was handed in.",
    }.get(verdict.state, "It is not right yet.")


def hint(task, verdict: Verdict) -> str:
    """Return the task's first hint where an answer was looked for and is still wanted, else an empty text."""
    wanted = verdict.state in ("failed", "error", "not attempted", "missing")
    return task.hints[0] if task.hints and wanted else ""


def points_in_words(points: Points) -> str:
    """Return such as "1.5 of 2 points"."""
    return f"{number(points.points)} of {number(points.possible)} point{'s' * (number(points.possible) != 1)}"


def handed_in(graded: Graded) -> bool:
    """Return whether there is any file of the student's."""
    return any(result.file for result in graded.results)


def on_stranger(graded: Graded) -> str:
    """Return what an instructor is told of a name that is not on the roster and resembles one that is; else ""."""
    if not graded.resembled:
        return ""
    return (
        f"Perhaps it belongs to {graded.resembled}, who is on the roster, but only a whole name counts: if so, move it "
        f"into a folder called {graded.resembled} and grade again."
    )


def set_by_hand(graded: Graded) -> list[str]:
    """Return what an instructor has set, told apart from what was graded, such as "03.attention: 4, graded 0"."""
    found = [f"{p.task}: {number(p.points)}, graded {number(p.graded)}" for p in graded.points if p.graded is not None]
    return found + ["extension"] * graded.late.startswith("Your deadline was extended")


def on_points(points: Points) -> list[str]:
    """Return the sentences that explain a task's points: partial credit, and what an instructor has set and says."""
    by_hand = (
        ""
        if points.graded is None
        else f"Your instructor has set these points; the grading gave {number(points.graded)}."
    )
    comment = points.comment and f"Your instructor says: {points.comment}"
    return [text for text in (points.explanation, by_hand, comment) if text]


def requests(graded: Graded) -> list[tuple[str, bool]]:
    """Return the requests to look again at a task, and whether the instructor has said or set something on it."""
    answered = {points.task for points in graded.points if points.graded is not None or points.comment or points.read}
    texts = dict.fromkeys(text for result in graded.results for text in result.requests)
    return [(text, text.partition(":")[0] in answered) for text in texts]


def problems(graded: Graded) -> list[str]:
    """Return why files could not be graded, each with its file, and what was not handed in."""
    return [
        f"{result.file}: {result.problem}" if result.file else result.problem
        for result in graded.results
        if result.problem
    ]


def not_graded(graded: Graded) -> list[str]:
    """Return why files could not be graded, each with its file."""
    return [f"{result.file}: {result.problem}" for result in graded.results if result.file and result.problem]


def table(file: TextIO):
    """Return a writer of CSV as all our tables are: texts in quotes, lines as RFC 4180 ends them."""
    return csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")


def _json(value, indent=None):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def _grades_header(tasks):
    columns = (f"{task.id} {what}" for task in tasks for what in ("points", "state", "mistake"))
    return [
        "student",
        "name",
        "total",
        "possible",
        "lost",
        "late",
        "by hand",
        "problem",
        *columns,
        *KINDS,
    ]


def _grades_row(graded, tasks):
    person, row = graded.person, []
    for _, verdict, points in verdicts(graded, tasks):
        row += [number(points.points), cell(verdict.state), cell(verdict.mistake)]
    totals = [number(graded.total), number(graded.possible), number(graded.lost), cell(graded.late)]
    texts = {kind: [text for result in graded.results for text in getattr(result, kind)] for kind in KINDS}
    texts["noticed"] += filter(None, [on_stranger(graded)])
    ends = [cell(" | ".join(texts[kind])) for kind in KINDS]
    problem = cell(" | ".join(problems(graded)))
    by_hand = cell("; ".join(set_by_hand(graded)))
    return [cell(person.student), cell(person.name), *totals, by_hand, problem, *row, *ends]


def _nbgrader_rows(graded, tasks):
    """Return a row for each lesson. What is lost for lateness is shared among lessons as their points are, to the cent."""
    person, lessons = graded.person, {}
    for task, _, points in verdicts(graded, tasks):
        raw, most = lessons.get(task.id.partition(".")[0], (0, 0))
        lessons[task.id.partition(".")[0]] = (raw + points.points, most + points.possible)
    raw_total = sum(raw for raw, _ in lessons.values())
    lost = min(graded.lost, raw_total)
    first_name, last_name = _names(person)
    who = [cell(person.student), cell(last_name), cell(first_name), cell(person.email)]
    before = 0
    for lesson, (raw, most) in lessons.items():
        share = _share(lost, before + raw, raw_total) - _share(lost, before, raw_total)
        before += raw
        scores = [number(raw), number(share), number(max(0.0, raw - share)), number(most)]
        yield [lesson, "", cell(other(person, "submitted")), *who, *scores]


def _share(lost, part, whole):
    return round(lost * part / whole, 2) if whole else 0.0


def _names(person):
    """First and last name: the roster's columns, else split at a comma or the last blank."""
    first, last = other(person, "first_name"), other(person, "last_name")
    if first or last:
        return first, last
    if "," in person.name:
        last, _, first = person.name.partition(",")
    else:
        first, _, last = person.name.strip().rpartition(" ")
    return first.strip(), last.strip()


def other(person: Person, *names: str) -> str:
    """Return the roster's further column of one of these names, capitals, blanks and underscores aside, or ""."""
    plain = {re.sub(r"[\s_]", "", column).lower(): value for column, value in person.other.items()}
    return next((plain[name.replace("_", "")] for name in names if plain.get(name.replace("_", ""))), "")


def _canvas_row(graded):
    """Canvas looks for a student by ID, then by SIS User ID, SIS Login ID and name: without any the identifier is the login."""
    person = graded.person
    id, sis, login = other(person, "canvas_id", "id"), other(person, "sis_user_id"), other(person, "sis_login_id")
    if not (id or sis or login):
        login = person.student
    texts = (person.name or person.student, id, sis, login, other(person, "section"))
    return [*map(cell, texts), number(graded.total)]


def _score(graded, tasks, at):
    """Return one Score, as LTI Assignment and Grade Services 2.0 wants it POSTed to a line item's /scores."""
    states = [verdict.state for _, verdict, _ in verdicts(graded, tasks)]
    person, passed = graded.person, states.count("passed")
    by_hand = bool(problems(graded)) or TO_BE_READ in states  # a person should look at it
    comment = f"{passed} of {len(tasks)} tasks passed. {graded.late}".strip()
    score = {
        "userId": clean(other(person, "lti_id", "lti_user_id", "user_id") or person.student),
        "timestamp": at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "activityProgress": "Completed" if handed_in(graded) else "Initialized",
        "gradingProgress": "PendingManual" if by_hand else "FullyGraded",
        "comment": cut(clean(comment), TEXT_AT_MOST),
    }
    if graded.possible > 0:  # a maximum of 0 is not allowed
        score |= {"scoreGiven": number(graded.total), "scoreMaximum": number(graded.possible)}
    return score


def _gradescope(graded, tasks):
    """Return the results.json of one submission, see https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format.

    `score` counts, not the tests' sum: it has lateness taken off.
    """
    on_all = graded.comment and f"Your instructor says: {graded.comment}"
    texts = [*problems(graded), graded.late, on_all, *(text for result in graded.results for text in result.remarks)]
    return {
        "score": number(graded.total),
        "output": "\n".join(cut(clean(text), TEXT_AT_MOST) for text in texts if text),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_gradescope_test(*row) for row in verdicts(graded, tasks)],
    }


def _gradescope_test(task, verdict, points):
    next_hint = hint(task, verdict)
    texts = [f"{verdict.state}: {why(verdict)}", *on_points(points), verdict.note, next_hint and f"Hint: {next_hint}"]
    status = {} if verdict.state == TO_BE_READ else {"status": "passed" if verdict.state == "passed" else "failed"}
    return {
        "name": f"{task.id} {task.title}",
        "name_format": "text",
        "score": number(points.points),
        "max_score": number(points.possible),
        **status,
        "output": "\n".join(cut(clean(text), TEXT_AT_MOST) for text in texts if text),
        "output_format": "text",
        "visibility": "visible",
    }
