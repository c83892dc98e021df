"""Gradebooks and scores: the formats as their readers specify them, hostile texts, file names, whole files or none."""

import csv
import io
import json
import random
import re
import tracemalloc
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.base.sanitise import clean
from course_utils.checks import catalogue
from course_utils.grading.ingest.class_settings import Settings
from course_utils.grading.ingest.overrides import Override
from course_utils.grading.ingest.written_answers import Written
from course_utils.grading.reports import exports, sentences
from course_utils.grading.reports.class_page import class_page
from course_utils.grading.reports.class_results import graded_class
from course_utils.grading.reports.points import MARKED_LATE
from course_utils.grading.storage import normalise
from course_utils.grading.storage.journal import Journal
from course_utils.grading.storage.record import TO_BE_READ, Graded, Person, Points, Result, Verdict

# Ten tasks of two lessons, however many more there are.
NAMES = "02.softmax 02.masked_softmax 02.dot_scores 02.mlp_scores 02.several_attentions 02.error_through_attention"
TASKS = [*map(catalogue.load, f"{NAMES} 03.padding_mask 03.causal_mask 03.attention 03.catch_wrong_attention".split())]
AT = datetime(2026, 11, 20, 13, 5, 7, 250_000, tzinfo=timezone(timedelta(hours=1)))
FORMULA = set("=+-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻−")
HOSTILE = [
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\u00a0=1", "\ufeff=1", "\u200b\u2060=1",
    "＝1", "＋1", "－1", "＠x", "﹦1", '"=1', "a;=1+1", 'a;""=1', "a; =HYPERLINK(1)", "a\t=1", "a\r\nb,=1\n=2", '","=1',
    "nul\0inside", "half \ud800 pair", "\u202egnp.exe", "\x1b[31mred", "\u2028=1", "</script><img src=x onerror=alert(1)>",
    "x" * 100_000, ";=" * 50_000, "e\u0301" * 20, "",
]  # fmt: skip


def shape(required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


NUMBER, TEXT, THINGS = {"type": "number"}, {"type": "string"}, {"type": "object"}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
SEEN = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
# https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format
TEST = shape(
    [], score=NUMBER, max_score=NUMBER, status={"enum": ["passed", "failed"]}, name=TEXT, name_format=FORMAT, number=TEXT,
    output=TEXT, output_format=FORMAT, tags={"type": "array", "items": TEXT}, visibility=SEEN, extra_data=THINGS,
)  # fmt: skip
GRADESCOPE = shape(
    ["score"], score=NUMBER, execution_time=NUMBER, output=TEXT, output_format=FORMAT, test_output_format=FORMAT,
    test_name_format=FORMAT, visibility=SEEN, stdout_visibility=SEEN, extra_data=THINGS, leaderboard={"type": "array"},
    tests={"type": "array", "items": TEST},
)  # fmt: skip
# https://www.imsglobal.org/spec/lti-ags/v2p0#score-service-media-type-and-schema
AGS = shape(
    ["userId", "activityProgress", "gradingProgress", "timestamp"],
    userId=TEXT | {"minLength": 1},
    scoreGiven=NUMBER | {"minimum": 0},
    scoreMaximum=NUMBER | {"exclusiveMinimum": 0},
    activityProgress={"enum": ["Initialized", "Started", "InProgress", "Submitted", "Completed"]},
    gradingProgress={"enum": ["FullyGraded", "Pending", "PendingManual", "Failed", "NotReady"]},
    timestamp=TEXT | {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)$"},
    comment=TEXT,
) | {"dependentRequired": {"scoreGiven": ["scoreMaximum"]}}


def one(student="ada", text="", lessons=("02", "03"), lost=0.0, other=None, points=None):
    """A student with a correct and an incorrect answer; `text` in every field that a submission or a roster fills."""
    verdicts = [Verdict(task.id, "passed", fingerprint="f", seconds=0.01) for task in TASKS]
    verdicts[0] = Verdict(TASKS[0].id, "failed", "value", "first_axis", message=f"{text}why", note=text, code=text)
    verdicts[1] = Verdict(TASKS[1].id, "not attempted")
    given = points or [0.25, 0, *[1] * (len(TASKS) - 2)]
    earned = [Points(task.id, p, 1, text) for task, p in zip(TASKS, given, strict=True) if task.id[:2] in lessons]
    found = [
        Result("k", student, f"{text}/{n}.ipynb", n, "", (text,), (text,), its, noticed=(text,))
        for n in lessons
        for its in [tuple(verdict for verdict in verdicts if verdict.task[:2] == n)]
    ]
    total = max(0, sum(p.points for p in earned) - lost)
    person = Person(student, text or "Ada Berg", text, other or {})
    return Graded(person, tuple(found), tuple(earned), text, lost, total, len(TASKS))


def absent(student="nobody"):
    return Graded(Person(student), (Result("k", student, "", "03"),), (), possible=len(TASKS))


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written(tmp_path, students, tasks=TASKS, title="Lessons 2 and 3", **more):
    exports.write_all(tmp_path, iter(students), tasks, title, AT, **more)
    return files(tmp_path)


def rows(data, delimiter=","):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))


def records(data):
    header, *table = rows(data)
    return header, [dict(zip(header, row, strict=True)) for row in table]


def test_grades_csv_has_a_row_per_student_and_columns_per_task(tmp_path):
    header, (ada, nobody) = records(written(tmp_path, [one(lost=1), absent()])["grades.csv"])
    of_tasks = [f"{task.id} {what}" for task in TASKS for what in ("points", "state", "mistake")]
    head = ["student", "name", "email", "total", "possible", "lost", "late", "by hand", "problem"]
    assert header == [*head, *of_tasks, "remarks", "noticed", "suspicions"]
    assert [ada[c] for c in ("student", "name", "total", "possible", "lost")] == ["ada", "Ada Berg", "7.25", "10", "1"]
    assert [ada[name] for name in of_tasks[:6]] == ["0.25", "failed", "first_axis", "0", "not attempted", ""]
    assert [nobody[name] for name in ("total", of_tasks[0], of_tasks[1])] == ["0", "0", "not handed in"]


def test_grades_csv_has_a_column_for_each_kind_of_remark(tmp_path):
    found = replace(absent().results[0], remarks=("R", "r"), noticed=("N",), suspicions=("S",))
    by_hand = Points(TASKS[0].id, 1, 1, graded=0.5)
    stranger = replace(absent(), points=(by_hand,), stranger=True, resembled="ada", late="Late.", results=(found,))
    _, [row] = records(written(tmp_path, [stranger])["grades.csv"])
    assert (row["late"], row["by hand"]) == ("Late.", f"{TASKS[0].id}: 1, graded 0.5")
    assert (row["remarks"], row["suspicions"]) == ("R | r", "S")
    assert row["noticed"].startswith("N | Perhaps it belongs to ada, who is on the roster")


def test_an_unreadable_file_has_its_reason_in_every_format(tmp_path):
    reason = "This is a PDF: hand in the notebook."
    spoilt = Graded(Person("bo"), (Result("k", "bo", "bo/x.pdf", "", reason),), (), possible=10)
    files = written(tmp_path, [spoilt])
    _, [row] = records(files["grades.csv"])
    assert row["problem"] == f"bo/x.pdf: {reason}"
    assert row["03.attention state"] == "not run"
    assert json.loads(files["ags.json"])[0]["gradingProgress"] == "PendingManual"
    assert reason in json.loads(files["gradescope/bo.json"])["output"]


def test_a_notebook_says_nothing_on_another_lesson(tmp_path):
    result = Result("k", "ada", "ada.ipynb", "02", verdicts=(Verdict("03.attention", "passed"),))
    _, [row] = records(written(tmp_path, [Graded(Person("ada"), (result,), ())])["grades.csv"])
    assert (row["02.softmax state"], row["03.attention state"]) == ("missing", "not handed in")


BROKEN = "The file breaks off in the middle, at line 1: save the notebook and hand it in again."


@pytest.mark.parametrize(
    "came, said",
    [
        ([("x.ipynb", "", BROKEN)], [f"x.ipynb: {BROKEN}"]),
        ([("a.ipynb", "02", ""), ("x.ipynb", "", BROKEN)], [f"x.ipynb: {BROKEN}"]),
        ([("a.ipynb", "02", "")], ["Nothing was handed in for lesson 03."]),
        ([("", "", "Nothing was handed in.")], ["Nothing was handed in."]),
        ([("", "", "x.ipynb is a link, which is not followed: hand in the file itself.")], ["x.ipynb is a link, which is not followed: hand in the file itself."]),
        ([("a.ipynb", "02", ""), ("b.ipynb", "03", "")], []),
    ],
)  # fmt: skip
def test_problems_gives_one_reason_for_what_is_missing(tmp_path, came, said):
    """The reason for a file that breaks off is not that nothing was handed in, and only files are listed as files."""
    with Journal(tmp_path) as journal:
        journal.begin(2**100, "")
        keys = [f"{place:064x}" for place in range(len(came))]
        for key, (file, lesson, problem) in zip(keys, came, strict=True):
            journal.add(Result(key, "ada", file, lesson, problem))
        (ada,) = graded_class(journal, keys, {}, Settings(), ["02", "03"], {})
    assert sentences.problems(ada) == said
    assert {row.task[:2] for row in ada.points} == {"02", "03"}  # what is missing counts, all the same
    page = class_page([ada], TASKS, "title")
    files = page.partition("id='problems'")[2].partition("</section>")[0]
    assert ("Every file could be graded." in files) == (BROKEN not in " ".join(said))
    assert ("x.ipynb" in files) == (BROKEN in " ".join(said)) and "Nothing was handed in" not in files


def test_the_later_of_two_equally_full_notebooks_is_graded(tmp_path):
    with Journal(tmp_path) as journal:
        journal.begin(2**100, "")
        for key, file in (("00" * 32, "a.ipynb"), ("11" * 32, "b.ipynb")):
            journal.add(Result(key, "ada", file, "02", verdicts=(Verdict("02.softmax", "failed"),)))
        (ada,) = graded_class(journal, ["00" * 32, "11" * 32], {}, Settings(), ["02"], {})
    assert [result.file for result in ada.results] == ["b.ipynb"]


LATE = Settings(deadline=AT, per_day=Decimal("0.1"))


@pytest.mark.parametrize(
    "file, settings, submitted, extension, said",
    [
        ("doejane_LATE_12345_6789_notebook.ipynb", LATE, "", None, MARKED_LATE),
        ("doejane_LATE_12345_6789_notebook/02.ipynb", LATE, "", None, MARKED_LATE),
        ("doejane_12345_6789_notebook_LATE_12_34_x.ipynb", LATE, "", None, ""),  # a name that a student chose
        ("doejane_12345_6789_notebook.ipynb", LATE, "", None, ""),
        ("doejane_LATE_12345_6789_notebook.ipynb", Settings(), "", None, ""),
        ("doejane_LATE_12345_6789_notebook.ipynb", LATE, AT.isoformat(), None, ""),  # whoever grades knows better
        ("doejane_LATE_12345_6789_notebook.ipynb", LATE, "", AT, "Your deadline was extended to"),
    ],
)
def test_canvas_mark_of_lateness_costs_nothing_and_is_said(tmp_path, file, settings, submitted, extension, said):
    verdicts = tuple(Verdict(task.id, "passed") for task in catalogue.by_lesson()["02"])
    roster = {"ada": Person("ada", other={"submitted": submitted})}
    with Journal(tmp_path) as journal:
        journal.begin(2**100, "")
        journal.add(Result("ab" * 32, "ada", file, "02", verdicts=verdicts))
        (ada,) = graded_class(journal, ["ab" * 32], roster, settings, ["02"], {"ada": Override(deadline=extension)})
    assert (ada.late == said or said and ada.late.startswith(said)) and ada.lost == 0 and ada.total == ada.possible
    page = class_page([ada], TASKS, "title")
    assert ("Canvas marks what 1 student handed in as late" in page) == (said == MARKED_LATE)


def test_nbgrader_has_its_exporters_columns_and_a_row_a_lesson(tmp_path):
    # nbgrader 0.9.6, nbgrader/plugins/export.py, CsvExportPlugin.export: keys
    keys = "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_score"
    time = "2026-11-20T10:00:00+01:00"
    ada = one(lost=1, other={"submitted": time})
    students = [replace(ada, person=replace(ada.person, email="a@x.org")), one("bo", lost=99), absent()]
    header, of_ada, second, *too_late, nobody, _ = rows(written(tmp_path, students)["nbgrader.csv"])
    assert ",".join(header) == keys
    assert of_ada == ["02", "", time, "ada", "Berg", "Ada", "a@x.org", "4.25", "0.52", "3.73", "6"]
    assert second[7:] == ["4", "0.48", "3.52", "4"]
    assert [row[7:10] for row in too_late] == [["4.25", "4.25", "0"], ["4", "4", "0"]]
    assert nobody[7:] == ["0", "0", "0", "6"]


def test_nbgraders_scores_add_up_to_the_total(tmp_path):
    chance = random.Random(0)
    for _ in range(20):
        points = [chance.choice([0, 0.33, 0.5, 1]) for _ in TASKS]
        student = one(lost=round(chance.random() * 3, 2), points=points)
        scores = [float(row["score"]) for row in records(written(tmp_path, [student])["nbgrader.csv"])[1]]
        assert sum(scores) == pytest.approx(student.total, abs=0.0101) and min(scores) >= 0


@pytest.mark.parametrize(
    "name, other, first, last",
    [
        ("Ada Maria Berg", {}, "Ada Maria", "Berg"),
        ("Berg, Ada", {}, "Ada", "Berg"),
        ("Ada", {}, "", "Ada"),
        ("Ada Berg", {"First Name": "A", "last_name": "B"}, "A", "B"),
    ],
)
def test_first_and_last_name_are_the_rosters_or_the_names_parts(tmp_path, name, other, first, last):
    ada = replace(one(), person=Person("ada", name, other=other))
    _, table = records(written(tmp_path, [ada])["nbgrader.csv"])
    assert {(row["first_name"], row["last_name"]) for row in table} == {(first, last)}


def test_canvas_can_import(tmp_path):
    by_id = {"ID": "4711", "SIS User ID": "s1", "SIS Login ID": "ada@x.org", "Section": "A"}
    students = [one(other=by_id), one("bo"), absent("x"), one(other={"canvas_id": "9", "id": "8"})]
    header, possible, *table = rows(written(tmp_path, students, canvas=7)["canvas.csv"])
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lessons 2 and 3 (7)"]
    assert possible == ["    Points Possible", "", "", "", "", "10"]
    ada, bo, x, other = table
    assert ada == ["Ada Berg", "4711", "s1", "ada@x.org", "A", "8.25"]
    assert (bo[1:5], x[0], other[1:4]) == (["", "", "bo", ""], "x", ["9", "", ""])


def test_moodle_can_import(tmp_path):
    # docs.moodle.org, Grade import: a column with the ID number or the e-mail address tells students apart
    by_id = {"ID number": "0042", "first_name": "Ada", "last_name": "Berg"}
    students = [replace(one(), person=Person("ada", "Berg, A", "ada@x.org", by_id)), one("bo"), absent("x")]
    files = written(tmp_path, students)
    assert [row[2] for row in rows(files["grades.csv"])] == ["email", "ada@x.org", "", ""]
    header, *table = rows(files["moodle.csv"])
    assert header == ["First name", "Last name", "Username", "ID number", "Email address", "Lessons 2 and 3"]
    ada, bo, x = table
    assert ada == ["Ada", "Berg", "ada", "0042", "ada@x.org", "8.25"]
    assert (bo[2:4], x[2:]) == (["bo", ""], ["x", "", "", "0"])


def test_an_empty_class_has_headers(tmp_path):
    files = written(tmp_path, [])
    tables = ("grades.csv", "nbgrader.csv", "canvas.csv", "moodle.csv")
    assert [len(rows(files[name])) for name in tables] == [1, 1, 2, 1]
    assert json.loads(files["ags.json"]) == []
    # Excel needs a mark to read UTF-8, and the other readers none.
    assert [name for name, data in files.items() if data.startswith(b"\xef\xbb\xbf")] == ["grades.csv"]


def test_gradescope_reads_it_and_learns_why_and_no_code(tmp_path):
    ada = replace(one(text="TEXT ", lost=1), comment="Well done.")
    content = json.loads(written(tmp_path, [ada])["gradescope/ada.json"])
    jsonschema.Draft202012Validator(GRADESCOPE).validate(content)
    assert content["score"] == 7.25  # lateness is taken off
    assert content["output"] == "TEXT \nYour instructor says: Well done.\nTEXT \nTEXT "
    wrong, empty, right = content["tests"][:3]
    named = {"score": 0.25, "max_score": 1, "status": "failed", "name": "02.softmax softmax with a temperature"}
    assert named.items() <= wrong.items()
    assert wrong["output"] == "failed: TEXT why\nTEXT \nTEXT "
    assert "nothing to grade" in empty["output"] and f"Hint: {TASKS[1].hints[0]}" in empty["output"]
    assert (right["status"], right["output"]) == ("passed", "passed: Right, on every input it was tried on.\nTEXT ")


def test_answers_still_to_be_read_are_neither_passed_nor_failed(tmp_path):
    [question], verdict = [Written("03.why", "Why?", 2)], Verdict("03.why", TO_BE_READ, code="Since.")
    result = Result("k", "ada", "ada.ipynb", "03", verdicts=(verdict,))
    given = written(tmp_path, [Graded(Person("ada"), (result,), (Points("03.why", 0, 2),), possible=2)], [question])
    [test] = json.loads(given["gradescope/ada.json"])["tests"]
    assert "status" not in test and "Its points are still to come." in test["output"]
    assert json.loads(given["ags.json"])[0]["gradingProgress"] == "PendingManual"


def test_ags_takes_each_score(tmp_path):
    students = [
        one(other={"LTI User ID": "u-1"}),
        one("bo", lost=99),
        absent(),
        Graded(Person("nothing counts"), (), ()),
    ]
    data = written(tmp_path, students)["ags.json"]
    scores = json.loads(data)
    for score in scores:
        jsonschema.Draft202012Validator(AGS).validate(score)
    assert [score["userId"] for score in scores] == ["u-1", "bo", "nobody", "nothing counts"]
    given = [(score.get("scoreGiven"), score.get("scoreMaximum")) for score in scores]
    assert given == [(8.25, 10), (0, 10), (0, 10), (None, None)]
    assert [score["activityProgress"] for score in scores] == ["Completed", "Completed", "Initialized", "Initialized"]
    assert {score["gradingProgress"] for score in scores} == {"FullyGraded"}
    assert scores[0]["comment"] == "8 of 10 tasks passed."
    assert scores[0]["timestamp"] == "2026-11-20T12:05:07.250Z"
    assert [json.loads(line.rstrip(b",")) for line in data.splitlines()[1:-1]] == scores  # one a line, as they are sent


def test_a_time_without_its_zone_is_refused(tmp_path):
    with pytest.raises(ValueError, match="time zone"):
        exports.write_all(tmp_path, [], TASKS, "x", datetime(2026, 11, 20))


def test_write_all_gives_the_same_bytes_even_over_older_files(tmp_path):
    first = written(tmp_path / "a", [one(text="ü"), absent()])
    paths = exports.write_all(tmp_path / "b", [one("ada"), absent()], TASKS, "x", AT)
    assert [path.name for path in paths] == "grades.csv nbgrader.csv canvas.csv moodle.csv ags.json gradescope".split()
    assert written(tmp_path / "b", [one(text="ü"), absent()]) == first
    assert sorted(name for name in first if "/" in name) == ["gradescope/ada.json", "gradescope/nobody.json"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    before = written(tmp_path, [one()])

    def broken():
        yield one("bo")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(tmp_path, broken())
    after = files(tmp_path)
    assert after == {**before, "gradescope/bo.json": after["gradescope/bo.json"]}


def begins_formula(text):
    shown = re.sub(r"^[\s\"\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2064\ufeff\x00-\x1f]+", "", text)
    return shown[:1] in FORMULA


def is_number(text):
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_a_formula_another_row_or_another_column(tmp_path, text):
    columns = ("Canvas ID", "SIS User ID", "section", "First Name", "LTI ID", "submitted")
    files = written(tmp_path, [one(text or "x", text, other=dict.fromkeys(columns, text)), one("bo")], title=text)
    for name, lines in {"grades.csv": 3, "nbgrader.csv": 5, "canvas.csv": 4, "moodle.csv": 3}.items():
        table = rows(files[name])
        assert len(table) == lines
        assert {len(row) for row in table} == {len(table[0])}
        for delimiter in ",;\t":  # a spreadsheet separates at what its country is used to
            cells = [cell for row in rows(files[name], delimiter) for cell in row]
            assert not [cell for cell in cells if begins_formula(cell) and not is_number(cell)]
        assert max(len(cell) for row in table for cell in row) < 32_767
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e]", files[name].decode("utf-8"))
    for name, data in files.items():
        if name.endswith(".json"):
            json.loads(data.decode("utf-8"))
    assert all(path.parent.name in ("gradescope", tmp_path.name) for path in tmp_path.rglob("*.*"))


def test_numbers_are_numbers_and_texts_are_quoted(tmp_path):
    line = written(tmp_path, [one(lost=0.5)])["grades.csv"].decode("utf-8-sig").splitlines()[1]
    assert line.startswith('"ada","Ada Berg","",7.75,10,0.5,"","","",0.25,"failed","first_axis",0,"not attempted",""')


@pytest.mark.parametrize(
    "text, kept",
    [
        ("Permission denied: '/home/my name/course/x.py'", "Permission denied: '…/x.py'"),
        ("cannot import name 'x' from 'y' (/srv/my course/y/__init__.py)", "cannot import name 'x' from 'y' (…/y/__init__.py)"),
        (r"No such file: 'C:\Users\me\x.csv'", "No such file: '…/x.csv'"),
        ("at /opt/python3.11/lib/x.cpp:12", "at …/x.cpp:12"),
        ("<f at 0x7f0123456789>", "<f at …>"),
        ("(3/4) and/or a / b, 'data/x.csv', https://pytorch.org/docs/", None),
    ],
)  # fmt: skip
def test_texts_for_students_name_no_folder_of_the_grader(text, kept):
    assert normalise.without_addresses(text) == (kept or text)


@given(st.text())
def test_any_text_is_one_safe_cell(text):
    cell = normalise.cell(text)
    cell.encode("utf-8")
    assert not set(cell) & set("\n\r\t\0")
    assert not any(begins_formula(part) for part in cell.split(";"))
    kept = [[c for c in t if c.isalnum()] for t in (cell, clean(text)[: normalise.CELL_AT_MOST - 1])]
    assert kept[0][: len(kept[1])] == kept[1]  # no letter is lost


def fits_any_system(name):
    reserved = re.fullmatch(r"con|prn|aux|nul|(com|lpt)\d", name.partition(".")[0], re.IGNORECASE)
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,71}", name) and not reserved


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True))
def test_two_students_never_share_a_file_on_any_system(students):
    names = [exports.file_name(student) for student in students]
    assert names[0].casefold() != names[1].casefold()
    assert all(map(fits_any_system, names))


@pytest.mark.parametrize(
    "student",
    ["Anna", "../../etc/passwd", "a\\b", "..", ".hidden", "-rf", "con", "NUL.txt", "lpt1.x", "index"]
    + ["a" * 300, "ada\n", "\ud800", "\u202e", "anna-0123456789", "明日香", "C:x"],
)
def test_file_name_changes_an_unfit_name_and_adds_its_hash(student):
    name = exports.file_name(student)
    assert fits_any_system(name) and name != student and re.search("-[0-9a-f]{10}$", name)


@pytest.mark.parametrize("student", ["ada", "ab123", "ada.berg", "x_1-b", "console", "index1"])
def test_plain_identifiers_stay_as_they_are(student):
    assert exports.file_name(student) == student


def test_memory_does_not_grow_with_the_class(tmp_path):
    def peak(size):
        tracemalloc.start()
        exports.write_all(tmp_path / str(size), (one(f"s{i}", "text") for i in range(size)), TASKS, "x", AT)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(5)  # whatever is loaded once
    small, large = (min(peak(size) for _ in range(3)) for size in (20, 400))  # other threads only ever add
    assert (large - small) / 380 < 500  # bytes per student; keeping one student takes several thousand
