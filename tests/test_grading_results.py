"""Gradebooks and scores: the formats as their readers specify them, hostile texts, file names, whole files or none."""

import csv
import io
import json
import random
import re
import tracemalloc
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.base.texts import clean
from course_utils.grading.keeping import texts
from course_utils.grading.keeping.journal import Journal
from course_utils.grading.keeping.record import Graded, Person, Points, Result, Verdict
from course_utils.grading.reading.overrides import Override
from course_utils.grading.reading.settings import Settings
from course_utils.grading.writing import results, sentences
from course_utils.grading.writing.class_page import class_page
from course_utils.grading.writing.gradebook import graded_class
from course_utils.grading.writing.points import MARKED_LATE
from course_utils.lessons import tasks

# Ten tasks of two lessons, however many more there are.
TASKS = [
    *map(tasks.load, ("02.softmax", "02.masked_softmax", "02.dot_scores", "02.mlp_scores", "02.several_attentions")),
    *map(tasks.load, ("02.error_through_attention", "03.padding_mask", "03.causal_mask", "03.attention")),
    tasks.load("03.catch_wrong_attention"),
]
AT = datetime(2026, 11, 20, 13, 5, 7, 250_000, tzinfo=timezone(timedelta(hours=1)))
FORMULA = set("=+-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻−")
HOSTILE = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "\u00a0=1",
    "\ufeff=1",
    "\u200b\u2060=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "﹦1",
    '"=1',
    "a;=1+1",
    'a;""=1',
    "a; =HYPERLINK(1)",
    "a\t=1",
    "a\r\nb,=1\n=2",
    '","=1',
    "nul\0inside",
    "half \ud800 pair",
    "\u202egnp.exe",
    "\x1b[31mred",
    "\u2028=1",
    "</script><img src=x onerror=alert(1)>",
    "x" * 100_000,
    ";=" * 50_000,
    "e\u0301" * 20,
    "",
]

# https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format
FORMATS = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
GRADESCOPE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score"],
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "output_format": FORMATS,
        "test_output_format": FORMATS,
        "test_name_format": FORMATS,
        "visibility": VISIBILITY,
        "stdout_visibility": VISIBILITY,
        "extra_data": {"type": "object"},
        "leaderboard": {"type": "array"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "name_format": FORMATS,
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": FORMATS,
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "visibility": VISIBILITY,
                    "extra_data": {"type": "object"},
                },
            },
        },
    },
}
# https://www.imsglobal.org/spec/lti-ags/v2p0#score-service-media-type-and-schema
AGS = {
    "type": "object",
    "additionalProperties": False,
    "required": ["userId", "activityProgress", "gradingProgress", "timestamp"],
    "properties": {
        "userId": {"type": "string", "minLength": 1},
        "scoreGiven": {"type": "number", "minimum": 0},
        "scoreMaximum": {"type": "number", "exclusiveMinimum": 0},
        "activityProgress": {"enum": ["Initialized", "Started", "InProgress", "Submitted", "Completed"]},
        "gradingProgress": {"enum": ["FullyGraded", "Pending", "PendingManual", "Failed", "NotReady"]},
        "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)$"},
        "comment": {"type": "string"},
    },
    "dependentRequired": {"scoreGiven": ["scoreMaximum"]},
}


def one(student="ada", text="", lessons=("02", "03"), lost=0.0, other=None, points=None):
    """A student with a right and a wrong answer; `text` in every field that a submission or a roster fills."""
    verdicts = [Verdict(task.id, "passed", fingerprint="f", seconds=0.01) for task in TASKS]
    verdicts[0] = Verdict(TASKS[0].id, "failed", "value", "first_axis", message=f"{text}why", note=text, code=text)
    verdicts[1] = Verdict(TASKS[1].id, "not attempted")
    given = points or [0.25, 0, *[1] * (len(TASKS) - 2)]
    earned = [Points(task.id, p, 1, text) for task, p in zip(TASKS, given, strict=True) if task.id[:2] in lessons]
    found = [
        Result(
            "k",
            student,
            f"{text}/{lesson}.ipynb",
            lesson,
            "",
            (text,),
            (text,),
            tuple(v for v in verdicts if v.task[:2] == lesson),
            noticed=(text,),
        )
        for lesson in lessons
    ]
    total = max(0, sum(p.points for p in earned) - lost)
    person = Person(student, text or "Ada Berg", text, other or {})
    return Graded(person, tuple(found), tuple(earned), text, lost, total, len(TASKS))


def absent(student="nobody"):
    return Graded(Person(student), (Result("k", student, "", "03"),), (), possible=len(TASKS))


def written(tmp_path, students, at=AT, title="Lessons 2 and 3"):
    results.write_all(tmp_path, iter(students), TASKS, title, at)
    return {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def rows(data, delimiter=","):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))


def test_what_is_written(tmp_path):
    paths = results.write_all(tmp_path / "new", [one(), absent()], TASKS, "Lessons", AT)
    assert [path.name for path in paths] == ["grades.csv", "nbgrader.csv", "canvas.csv", "ags.json", "gradescope"]
    assert all(path.exists() for path in paths)
    assert sorted(path.name for path in paths[-1].iterdir()) == ["ada.json", "nobody.json"]


def test_grades_hold_a_row_a_student_and_say_points_state_and_mistake_of_each_task(tmp_path):
    table = rows(written(tmp_path, [one(lost=1), absent()])["grades.csv"])
    header, ada, nobody = table
    assert header[:7] == ["student", "name", "total", "possible", "lost", "late", "by hand"]
    assert header[-3:] == ["remarks", "noticed", "suspicions"]
    assert [h for h in header if h.startswith("02.softmax ")] == [
        "02.softmax points",
        "02.softmax state",
        "02.softmax mistake",
    ]
    ada, nobody = dict(zip(header, ada, strict=True)), dict(zip(header, nobody, strict=True))
    assert (ada["student"], ada["name"], ada["lost"], ada["possible"]) == ("ada", "Ada Berg", "1", "10")
    assert (ada["02.softmax points"], ada["02.softmax state"], ada["02.softmax mistake"]) == (
        "0.25",
        "failed",
        "first_axis",
    )
    assert float(ada["total"]) == sum(float(ada[f"{task.id} points"]) for task in TASKS) - 1
    assert (nobody["total"], nobody["03.attention state"], nobody["03.attention points"]) == ("0", "not handed in", "0")


def test_a_file_that_could_not_be_read_has_its_reason_in_every_format(tmp_path):
    reason = "This is a PDF: hand in the notebook."
    spoilt = Graded(Person("bo"), (Result("k", "bo", "bo/x.pdf", "", reason),), (), possible=10)
    files = written(tmp_path, [spoilt])
    row = dict(zip(*rows(files["grades.csv"]), strict=True))
    assert row["problem"] == f"bo/x.pdf: {reason}"
    assert row["03.attention state"] == "not run"
    assert json.loads(files["ags.json"])[0]["gradingProgress"] == "PendingManual"
    assert reason in json.loads(files["gradescope/bo.json"])["output"]


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
def test_of_what_is_missing_one_thing_is_said_and_a_page_of_files_lists_files(tmp_path, came, said):
    """It said of a file that breaks off, too, that nothing was handed in."""
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
    verdicts = tuple(Verdict(task.id, "passed") for task in tasks.by_lesson()["02"])
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
    person = {"submitted": "2026-11-20T10:00:00+01:00"}
    header, *table = rows(written(tmp_path, [one(lost=1, other=person), absent()])["nbgrader.csv"])
    assert ",".join(header) == keys
    first, second, *nobody = (dict(zip(header, row, strict=True)) for row in table)
    assert (first["assignment"], second["assignment"]) == ("02", "03")
    assert (first["last_name"], first["first_name"], first["timestamp"]) == ("Berg", "Ada", person["submitted"])
    assert (first["raw_score"], first["max_score"], second["raw_score"]) == ("4.25", "6", "4")
    assert float(first["late_submission_penalty"]) + float(second["late_submission_penalty"]) == pytest.approx(1)
    assert [row["score"] for row in nobody] == ["0", "0"]


@pytest.mark.parametrize("seed", range(20))
def test_nbgraders_scores_add_up_to_the_total(tmp_path, seed):
    chance = random.Random(seed)
    points = [chance.choice([0, 0.33, 0.5, 1]) for _ in TASKS]
    student = one(lost=round(chance.random() * 3, 2), points=points)
    header, *table = rows(written(tmp_path, [student])["nbgrader.csv"])
    scores = [float(row[header.index("score")]) for row in table]
    assert sum(scores) == pytest.approx(student.total, abs=0.0101)
    assert min(scores) >= 0


def test_canvas_can_import(tmp_path):
    by_id = {"ID": "4711", "SIS User ID": "s1", "SIS Login ID": "ada@x.org", "Section": "A"}
    header, possible, ada, bo = rows(written(tmp_path, [one(other=by_id), one("bo")])["canvas.csv"])
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lessons 2 and 3"]
    assert "Points Possible" in possible[0]
    assert possible[5] == "10"
    assert ada == ["Ada Berg", "4711", "s1", "ada@x.org", "A", "8.25"]
    assert bo[1:5] == ["", "", "bo", ""]


def test_an_empty_class_has_headers(tmp_path):
    files = written(tmp_path, [])
    assert [len(rows(files[name])) for name in ("grades.csv", "nbgrader.csv", "canvas.csv")] == [1, 1, 2]
    assert json.loads(files["ags.json"]) == []


def test_gradescope_reads_it_and_learns_why_and_no_code(tmp_path):
    content = json.loads(written(tmp_path, [one(text="TEXT ")])["gradescope/ada.json"])
    jsonschema.Draft202012Validator(GRADESCOPE).validate(content)
    wrong, empty, right = content["tests"][:3]
    assert (wrong["score"], wrong["max_score"], wrong["status"], wrong["name"]) == (
        0.25,
        1,
        "failed",
        "02.softmax softmax with a temperature",
    )
    assert wrong["output"].startswith("failed: TEXT why\n")
    assert wrong["output"].endswith(f"Hint: {TASKS[0].hints[0]}")
    assert "nothing to grade" in empty["output"]
    assert (right["status"], right["output"]) == ("passed", "passed: Right, on every input it was tried on.\nTEXT ")
    assert TASKS[0].hints[1] not in json.dumps(content, ensure_ascii=False)


def test_ags_takes_each_score(tmp_path):
    data = written(tmp_path, [one(other={"LTI User ID": "u-1"}), one("bo", lost=99), absent()])["ags.json"]
    scores = json.loads(data)
    for score in scores:
        jsonschema.Draft202012Validator(AGS).validate(score)
    assert [score["userId"] for score in scores] == ["u-1", "bo", "nobody"]
    assert [score["scoreGiven"] for score in scores] == [8.25, 0, 0]
    assert [score["activityProgress"] for score in scores] == ["Completed", "Completed", "Initialized"]
    assert scores[0]["timestamp"] == "2026-11-20T12:05:07.250Z"
    assert [json.loads(line.rstrip(b",")) for line in data.splitlines()[1:-1]] == scores  # one a line, as they are sent


def test_ags_gives_no_maximum_of_zero(tmp_path):
    nothing_counts = Graded(Person("ada"), (), ())
    score = json.loads(written(tmp_path, [nothing_counts])["ags.json"])[0]
    jsonschema.Draft202012Validator(AGS).validate(score)
    assert "scoreMaximum" not in score


def test_a_time_without_its_zone_is_refused(tmp_path):
    with pytest.raises(ValueError, match="time zone"):
        results.write_all(tmp_path, [], TASKS, "x", datetime(2026, 11, 20))


def test_the_same_input_gives_the_same_bytes_also_over_older_files(tmp_path):
    first = written(tmp_path / "a", [one(text="ü"), absent()])
    written(tmp_path / "b", [one("ada"), absent()])
    assert written(tmp_path / "b", [one(text="ü"), absent()]) == first


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    before = written(tmp_path, [one()])

    def broken():
        yield one("bo")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results.write_all(tmp_path, broken(), TASKS, "x", AT)
    after = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == {**before, "gradescope/bo.json": after["gradescope/bo.json"]}


def begins_formula(text):
    shown = re.sub(r"^[\s\"\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2064\ufeff\x00-\x1f]+", "", text)
    return shown[:1] in FORMULA


def is_number(text):
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_a_formula_another_row_or_another_column(tmp_path, text):
    files = written(tmp_path, [one(text or "x", text), one("bo")], title=text)
    for name in ("grades.csv", "nbgrader.csv", "canvas.csv"):
        table = rows(files[name])
        assert len(table) == {"grades.csv": 3, "nbgrader.csv": 5, "canvas.csv": 4}[name]
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
    assert line.startswith('"ada","Ada Berg",7.75,10,0.5,"","","",0.25,"failed","first_axis",0,"not attempted",""')


@given(st.text())
def test_any_text_is_one_safe_cell(text):
    cell = texts.cell(text)
    cell.encode("utf-8")
    assert not set(cell) & set("\n\r\t\0")
    assert not any(begins_formula(part) for part in cell.split(";"))
    kept = [[c for c in t if c.isalnum()] for t in (cell, clean(text)[: texts.CELL_AT_MOST - 1])]
    assert kept[0][: len(kept[1])] == kept[1]  # no letter is lost


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True))
def test_two_students_never_share_a_file_on_any_system(students):
    names = [results.file_name(student) for student in students]
    assert names[0].casefold() != names[1].casefold()
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,71}", name)
        assert re.fullmatch(r"con|prn|aux|nul|(com|lpt)\d", name.partition(".")[0], re.IGNORECASE) is None


@pytest.mark.parametrize(
    "student", ["Anna", "ANNA", "../../etc/passwd", "a/b", "a\\b", "..", ".hidden", "-rf", "con", "NUL.txt"]
)
@pytest.mark.parametrize(
    "twist", ["", "lpt1.x", "index", "a" * 300, "ada\n", "\ud800", "\u202e", "anna-0123456789", "é", "明日香", "C:x"]
)
def test_names_of_files(student, twist):
    for name in map(results.file_name, (student, twist or "x")):
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,71}", name)
        assert name not in (student, twist)  # each had to change, and what had to change carries its hash
        assert name == "x" or re.search("-[0-9a-f]{10}$", name)


def test_plain_identifiers_stay_as_they_are():
    assert [results.file_name(name) for name in ("ada", "ab123", "ada.berg", "x_1-b")] == [
        "ada",
        "ab123",
        "ada.berg",
        "x_1-b",
    ]


def test_memory_does_not_grow_with_the_class(tmp_path):
    def peak(size):
        tracemalloc.start()
        results.write_all(tmp_path / str(size), (one(f"s{i}", "text") for i in range(size)), TASKS, "x", AT)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(5)  # whatever is loaded once
    assert (peak(400) - peak(20)) / 380 < 500  # bytes a student; to keep one takes several thousand
