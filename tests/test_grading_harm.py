"""What one notebook can do to other students, to the grading, or to its own points without an exercise: nothing.

Each was done to an earlier version. Not here: breaking out of the sandbox (`test_grading_attacks.py`), broken files
(`test_grading_inputs.py`).
"""

import inspect
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import sampling
import timeouts
import torch
from alternative_solutions import exercises_of
from lesson_03_tasks import FOUR, states
from submissions import ATTENTION, CAUSAL, PADDING, grades, needs_sandbox, notebook
from tasks import solution_of

from course_utils.base import files
from course_utils.base.errors import CourseError
from course_utils.base.imports import PACKAGES
from course_utils.base.paths import file_of, names_in
from course_utils.checks import catalogue, explain, judge
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.running.contract import Case, Outcome, pack, unpack, without_labels
from course_utils.checks.running.limit import TimeIsUp, time_limit
from course_utils.checks.running.run import run
from course_utils.checks.task import Task
from course_utils.commands import main
from course_utils.grading.handing_out.nbgrader import export
from course_utils.grading.handing_out.release import release
from course_utils.grading.ingest import lessons
from course_utils.grading.ingest.class_settings import Settings
from course_utils.grading.ingest.notebook_file import Notebook, read_notebook
from course_utils.grading.ingest.submissions import Found, canvas_id, find
from course_utils.grading.ingest.tampering import find_tampering
from course_utils.grading.judging import budget, notebook_run, sandbox_client
from course_utils.grading.judging import notebook_grader as graders
from course_utils.grading.judging.notebook_grader import Grader, result_key
from course_utils.grading.pipeline import grade_class, what_to_grade, which_lessons
from course_utils.grading.reports.class_page import class_page
from course_utils.grading.reports.pages import feedback
from course_utils.grading.reports.points import score
from course_utils.grading.reports.sentences import why
from course_utils.grading.sandbox import policy
from course_utils.grading.storage.journal import GAVE_UP, Journal, JournalError
from course_utils.grading.storage.record import BYTES_AT_MOST, Graded, Person, Result, Verdict
from course_utils.models import attention

COURSE = Path(__file__).parents[1]
SEED = 2**127 + 20
LESSON_04 = "def dot(state, hidden):\n    return 0\n"


@pytest.fixture(scope="module")
def grader(make_grader):
    return make_grader(2**100, options_seed=7)


@pytest.fixture
def grade(grader, tmp_path):
    def one(*cells, name="03.ipynb"):
        path = tmp_path / name
        path.write_text(notebook(*cells), encoding="utf-8")
        return grader.grade(Found("eve", path, name), "00" * 32)

    return one


def state(result, task):
    return next(verdict.state for verdict in result.verdicts if verdict.task == task)


# One student and everybody's possible points


def a_class(folder, students, **stray):
    """Students with a notebook of lesson 03 each; `stray` puts so many of lesson 04 into the folders of some."""
    for i in range(students):
        (folder / f"s{i}").mkdir(parents=True)
        (folder / f"s{i}" / "03.ipynb").write_text(notebook("import torch", PADDING, CAUSAL))
    for student, number in stray.items():
        for i in range(number):
            (folder / student / f"stray{i}.ipynb").write_text(notebook(LESSON_04))
    return folder


def lessons_of(folder, out, named=None):
    what = what_to_grade(folder, out, named, None, None, None, True)
    with Journal(out) as journal:
        what = which_lessons(what, journal)
        journal.begin(SEED, "", what.lessons)
    return what.lessons, what.why_lessons


@pytest.mark.parametrize("students, stray", [(20, {"s7": 100}), (4, {"s1": 1, "s2": 1})])
def test_a_lesson_that_few_hand_in_changes_no_possible_points(tmp_path, students, stray):
    found, said = lessons_of(a_class(tmp_path / "in", students, **stray), tmp_path / "out")
    assert found == ["03"]
    assert "Those that count: 03." in said and f"lesson 04 by {len(stray)}" in said and "--lessons" in said


def test_lessons_are_kept_in_the_journal_and_may_be_named(tmp_path):
    folder = a_class(tmp_path / "in", 3)
    assert lessons_of(folder, tmp_path / "out") == (["03"], "")
    for i in range(3):
        (folder / f"s{i}" / "04.ipynb").write_text(notebook(LESSON_04))
    assert lessons_of(folder, tmp_path / "out") == (["03"], "")
    assert lessons_of(folder, tmp_path / "anew")[0] == ["03", "04"]
    assert lessons_of(folder, tmp_path / "out", ["04"]) == (["04"], "")
    assert lessons_of(folder, tmp_path / "out") == (["04"], "")


def test_a_class_that_hands_in_large_pictures_has_a_lesson(tmp_path):
    folder = a_class(tmp_path / "in", 3)
    for i in range(3):
        plain = json.loads((folder / f"s{i}" / "03.ipynb").read_text())
        plain["cells"].append({"cell_type": "markdown", "source": "", "attachments": {"a": "#" * 3_000_000}})
        (folder / f"s{i}" / "03.ipynb").write_text(json.dumps(plain))
    assert lessons_of(folder, tmp_path / "out") == (["03"], "")


def test_a_large_class_is_asked_in_part_and_each_student_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons, "STUDENTS", 4)
    monkeypatch.setattr(lessons, "NOTEBOOKS", 2)
    count = lessons.count_lessons(find(a_class(tmp_path / "in", 10, s0=3)))
    assert count == {"03": 3, "04": 1}  # of every third student; s0's last two are strays


@needs_sandbox
def test_a_stray_lesson_is_announced_and_costs_nobody_a_point(tmp_path, graded_here):
    folder, begun = a_class(tmp_path / "in", 3, s1=2), []
    done = grade_class(folder, tmp_path / "out", begin=begun.append)
    assert done.lessons == ["03"] and "lesson 04 by 1" in begun[0].why_lessons
    assert [(row["total"], row["possible"]) for row in grades(tmp_path / "out").values()] == [("2", "6")] * 3
    page = (tmp_path / "out" / "class.html").read_text()
    assert "Lesson 04 was also handed in, by 1 student, and does not count" in page


# What is written


def test_a_result_is_no_long_line_whatever_its_notebook_says(tmp_path):
    loud = "\U0001f600" * 100_000
    said = Result(
        "ab" * 32, "eve", "f" * 4000, "03", loud, (loud,) * 2000, (loud,) * 2000,
        (Verdict("03.attention", "failed", code=loud, message=loud, note=loud, mistake=loud),) * 13,
    )  # fmt: skip
    line = said.fitted().line()
    assert len(line) <= BYTES_AT_MOST
    ordinary = replace(
        said, problem="", remarks=(), suspicions=(), verdicts=(Verdict("03.attention", "failed", code="x = 1\n" * 600),)
    )
    assert ordinary.fitted() == ordinary
    fit = Result.from_json(json.loads(line))
    assert len(fit.remarks) == 20 and fit.remarks[-1] == "1,981 more remarks were left out."
    with Journal(tmp_path) as journal:
        journal.begin(SEED, "")
        for i in range(30):
            journal.add(replace(said, key=f"{i:064x}"))
    assert (tmp_path / "journal.jsonl").stat().st_size < 31 * BYTES_AT_MOST
    with Journal(tmp_path) as journal:  # what was written is read again
        assert len(journal) == 30 and journal[f"{7:064x}"].student == "eve"


@needs_sandbox
def test_an_exceptions_text_is_no_reason_for_suspicion(grade):
    result = grade("raise ValueError('it ended the process through a pipe')", PADDING)
    assert result.suspicions == () and "ended the process" in result.remarks[0]


@pytest.mark.thorough
@needs_sandbox
def test_results_hold_no_times_process_ids_addresses_or_chance(grader, grade):
    cells = (
        "import os, random, numpy, torch\nraise ValueError(f'{os.getpid()} {object()} {random.random()} {numpy.random.rand()} {torch.rand(1)}')",
        "import time\nend = time.process_time() + 15\nwhile time.process_time() < end: pass",
        "def causal_mask(size):\n    raise ValueError(os.getpid(), object())",
    )
    first = grade(*cells)
    grader.sandbox.restart()
    again = grade(*cells)
    assert first.remarks == again.remarks and " at …>" in first.remarks[0]
    assert [v.message for v in first.verdicts] == [v.message for v in again.verdicts]
    assert "stopped after 10 seconds of computing" in first.remarks[1]


# What the trusted side takes from a process


def packed(tree, tail=b""):
    head = json.dumps(tree).encode() if not isinstance(tree, bytes) else tree
    return len(head).to_bytes(8, "big") + head + tail


def test_unpacking_is_bounded():
    began = time.monotonic()
    collide = b",".join(b"[%d,1]" % (i * (2**61 - 1)) for i in range(1, 70_000))
    for body in (
        packed(b'{"tensor":"uint8","bytes":1,"shape":[' + b"9," * 1_000_000 + b"9]}", b"1"),
        packed(b'{"dict":[' + collide + b"]}"),
        packed({"list": [{"dict": [[i, 1] for i in range(900)]}] * 20}),
    ):
        with pytest.raises(ValueError):
            unpack(body)
    assert time.monotonic() - began < 10  # it took a minute
    whole = {i: torch.ones([1] * 16) for i in range(1000)}
    assert unpack(pack(whole)).keys() == whole.keys()


def test_values_that_cannot_cross_are_named():
    answers = lambda: dict.fromkeys(range(2000)), lambda: torch.ones([1] * 60)  # noqa: E731
    huge, deep = (run(answer, [Case("", ())]) for answer in answers)
    assert (huge[0].value.name, deep[0].value.name) == ("dict of 2,000", "Tensor with 60 axes")


def test_properties_look_only_at_values_of_the_right_size():
    task, seen = Task("99.x", "x", ("a S",), "b S", difficulty=1, importance=1, minutes=1), []
    task.cases(lambda draw: (Case(f"{n}", (torch.arange(1.0, n + 1),)) for n in (2, 3, 4)))
    task.oracle(lambda a: a * 2)
    task.property(lambda case, value: seen.append(tuple(value.shape)))
    cases = task.make_cases()
    wrong = [Outcome("value", torch.zeros(shape)) for shape in ((2,), (100_000, 1), (4,))]
    assert judge.judge(task, cases, wrong).state == "failed"
    assert seen == [(2,), (4,)]


@needs_sandbox
def test_a_judge_that_takes_too_much_costs_that_answer_alone(grade, monkeypatch):
    judged = judge.judge

    def slow_or_large(task, *given, **named):
        if task.id == "03.padding_mask":
            while True:
                pass
        if task.id == "03.attention":
            torch.ones(2**30)
        return judged(task, *given, **named)

    monkeypatch.setattr(judge, "judge", slow_or_large)
    monkeypatch.setattr(
        "course_utils.grading.judging.notebook_grader._unreadable_report", lambda task: judged(task, (), None)
    )
    result = grade("import torch", PADDING, CAUSAL, ATTENTION)
    assert states(result) == ["error", "passed", "error", "missing"]


SAYS = """import sys, torch
server = sys.modules["course_utils.grading.sandbox.fork_server"]
server.plain = lambda value: value
value = {}
sys.modules["course_utils.learner.notebook"].question_replies["00.q1"] = (value, 7)
sys.modules["course_utils.learner.notebook"].question_replies["00.q2"] = ("b", value)
"""
NESTED = "torch.ones(2)\nfor _ in range(420):\n    value = server.Foreign(value)"


@needs_sandbox
@pytest.mark.parametrize(
    "value",
    ["[torch.rand(900) for _ in range(1000)]", NESTED, "'x' * 10**6", "2**4000", "(1, 2)", "server.Foreign('x')"],
)
def test_replies_to_a_question_are_looked_at_only_if_scalar(grade, value):
    began = time.monotonic()
    result = grade(SAYS.format(value), name="00.ipynb")
    assert time.monotonic() - began < timeouts.SECONDS / 10  # a thousand tensors took 80 s
    assert (result.problem, state(result, "00.q1"), state(result, "00.q2")) == ("", "missing", "missing")


@needs_sandbox
@pytest.mark.parametrize("error", [RecursionError("too deep"), TimeIsUp()])
def test_a_grader_error_becomes_a_sentence_on_a_kept_page(grader, grade, monkeypatch, error):
    def stumble(*_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(grader, "_verdict", stumble)
        result = grade("import torch", CAUSAL)
    assert result.problem.startswith(
        f"The grader stumbled over this notebook, so that nothing in it is graded ({type(error).__name__}): "
    )
    assert not result.problem.startswith(GAVE_UP)  # which is tried again
    assert state(grade("import torch", CAUSAL), "03.causal_mask") == "passed"


@needs_sandbox
@pytest.mark.parametrize("error", [OSError(), MemoryError(), sandbox_client.ServerGone()])
def test_grading_tries_again_what_the_machine_lacks_for_a_moment(grader, grade, monkeypatch, error):
    def lack(*_):
        raise error

    restarted = []
    monkeypatch.setattr(grader, "_verdict", lack)
    monkeypatch.setattr(grader.sandbox, "restart", lambda: restarted.append(1))
    with pytest.raises(type(error)):
        grade("import torch", CAUSAL)
    assert len(restarted) == 2 * isinstance(error, sandbox_client.ServerGone)


@needs_sandbox
def test_judging_an_answer_to_a_question_is_limited(grade, monkeypatch):
    def forever(*_):
        while True:
            pass

    monkeypatch.setattr(catalogue.NumberQuestion, "judge", forever)
    assert "(TimeIsUp)" in grade('from course_utils import check\ncheck("00.q1", 1)', name="00.ipynb").problem


@needs_sandbox
def test_letters_for_another_order_of_the_options_earn_nothing(grade):
    """Else letters that are passed on for one published seed are right in any class."""
    asked = [question for question in catalogue.questions_of("03") if question.options(0)]
    for seed, wanted in ((7, "passed"), (8, "not run"), (None, "not run"), (7.0, "not run"), (True, "not run")):
        letters = [
            next(letter for letter, text in question.options(seed or 0) if text == question.right[0])
            for question in asked
        ]
        said = "\n".join(
            f"check({question.id!r}, {letter!r}, seed={seed})" for question, letter in zip(asked, letters, strict=True)
        )
        result = grade("from course_utils import check", said)
        assert [state(result, question.id) for question in asked] == [wanted] * len(asked), seed
    assert "keep `seed=7` in the check" in result.verdicts[-1].message


def test_the_seed_of_questions_decides_on_what_is_graded_again(tmp_path):
    path = tmp_path / "03.ipynb"
    path.write_text(notebook(CAUSAL))
    found = Found("ada", path, "03.ipynb")
    keys = {result_key(found, SEED, budget.Limits(), options_seed=seed) for seed in (None, 7, 8)}
    assert len(keys) == 3


# Points without the exercise

BORROWED = """
from course_utils.models import attention as course
def padding_mask(lengths, size):
    return course.padding_mask(lengths, size)
causal_mask = course.causal_mask
def attention(query, key, value, mask=None):
    return own(query, key, value, mask)
import types
own = types.FunctionType(course.attention.__code__.replace(co_name="own", co_filename="mine"), vars(course), "own", course.attention.__defaults__)
own.__module__ = causal_mask.__module__ = "__main__"
"""


@needs_sandbox
def test_the_courses_own_code_is_not_there_to_be_called(grade):
    result = grade(BORROWED)
    assert states(result) == ["error", "error", "error", "missing"]
    assert "not at hand" in result.verdicts[0].message and "padding_mask" in result.verdicts[0].message
    assert {p.points for p in score(result, Settings())} == {0}


@needs_sandbox
def test_copied_course_code_earns_only_what_instructors_allow(grade):
    copied = "\n".join(inspect.getsource(function) for function in (attention.padding_mask, attention.causal_mask))
    result = grade("import torch\nfrom torch import Tensor", copied)
    found = {v.task: v.borrowed for v in result.verdicts if v.state == "passed"}
    assert found == {
        "03.padding_mask": "models.attention.padding_mask",
        "03.causal_mask": "models.attention.causal_mask",
    }
    assert {p.points for p in score(result, Settings())} == {0}
    assert "does not offer" in score(result, Settings())[0].explanation
    counted = {p.task: p.points for p in score(result, Settings(reference_counts=True))}
    assert [counted[task] for task in FOUR] == [1, 1, 0, 0] and sum(counted.values()) == 2
    assert "03.causal_mask calls the course's own models.attention.causal_mask" in result.suspicions


HIDDEN = {
    "compiled": "causal_mask = torch.jit.script(course.causal_mask)",
    "by emptying the watch": "import sys\ndef causal_mask(size):\n    mask = course.causal_mask(size)\n"
    "    sys.getprofile().__self__._called.clear()\n    return mask",
    "in a value that comes late": "class Late(tuple):\n    def __iter__(self):\n        return iter(course.attention(*self.inputs))\n"
    "def attention(*inputs):\n    late = Late((0, 0))\n    late.inputs = inputs\n    return late",
}


@needs_sandbox
@pytest.mark.parametrize("how", HIDDEN)
def test_hiding_the_courses_own_code_is_flagged(grade, how):
    result = grade("import torch\nfrom course_utils.models import attention as course", HIDDEN[how])
    earns = sum(points.points for points in score(result, Settings()))
    told = (*result.suspicions, *result.noticed)
    assert earns == 0 or any("imports what no exercise offers" in reason for reason in told), result
    assert told


@needs_sandbox
def test_imports_are_noticed_only_where_no_exercise_offers_them(grade):
    offered, more = "import attention as reference", "import attention, causal_mask"
    said = [grade(f"from course_utils.models.attention {names}", CAUSAL) for names in (offered, more)]
    found = [[text for text in result.noticed if "imports what no exercise offers" in text] for result in said]
    assert (found[0], len(found[1])) == ([], 1) and said[0].suspicions == said[1].suspicions == ()


# Each with what it is told as, and whether that is a reason for suspicion.
WORDS = [
    ("import signal", "handles processes", True),
    ("import os, signal", "handles processes", True),
    ("x = 1; import subprocess as s", "handles processes", True),
    ("from multiprocessing.pool import Pool", "handles processes", True),
    ("__import__('socket')", "asks for a network", True),
    ("importlib.import_module('http.client')", "asks for a network", True),
    ("from urllib.request import urlopen", "asks for a network", True),
    ("import threading", "would run code after or beside its answers", True),
    ("f = torch.jit.script(g)", "compiles functions, whose calls nobody sees", False),
    ("f = torch.compile(lambda x: x)", "", False),
    ("torch.backends.cudnn.deterministic = True", "", False),
    ("os.environ['KMP_DUPLICATE_LIB_OK'] = 'True'", "reads or sets environment variables", False),
    ("signal, requests = noise * 2, [1]", "", False),
    ("signal.shape, requests[0]", "", False),
    ("# adapted from http://example.org, by subprocess; sys.modules", "", False),
    ("'''Taken from http://example.org: the signal is what we import.'''", "", False),
]


@pytest.mark.parametrize(("code", "said", "suspicious"), WORDS)
def test_code_of_honest_notebooks_raises_no_suspicion(code, said, suspicious):
    code = graders._own_code(Notebook((code,), "03"))
    found = [graders._code_sentences(code, patterns) for patterns in (graders.SUSPICIOUS, graders.NOTICED)]
    wanted = [f"The code {said}."] if said else []
    assert found == ([wanted, []] if suspicious else [[], wanted])


@needs_sandbox
def test_a_slow_uninterruptible_answer_is_not_called_a_crash(grader, grade, monkeypatch):
    monkeypatch.setattr(grader.sandbox, "limits", budget.Limits(seconds=1, whole=4))
    result = grade("import torch", "def causal_mask(size):\n    return sum(range(10**12))")
    assert state(result, "03.causal_mask") == "error" and result.suspicions == ()


@needs_sandbox
def test_alterations_are_noticed_and_hidden_from_students(tmp_path, grader):
    (released,) = release(COURSE, ["03"], tmp_path, Settings())
    plain = json.loads(released.read_text(encoding="utf-8"))

    def graded(cells, **changed):
        released.write_text(json.dumps(plain | {"cells": cells} | changed), encoding="utf-8")
        return grader.grade(Found("ada", released, "03.ipynb"), "00" * 32)

    def alter(cell):
        return cell | {"source": cell["source"] + "\n\nEasy."} if "`03.attention`\n" in cell["source"] else cell

    gone = ('check("03.causal_mask"', "`03.influence`\n")
    cells = [alter(cell) for cell in plain["cells"] if not any(text in cell["source"] for text in gone)]
    assert graded(plain["cells"]).noticed == ()
    result = graded(cells)
    noticed = ("Prompts edited: 03.attention.", "Prompts deleted: 03.influence.", "Checks deleted: 03.causal_mask.")
    assert (result.noticed, result.remarks, result.suspicions) == (noticed, (), ())
    in_colab = [cell | {"id": None, "metadata": cell["metadata"] | {"id": cell["id"]}} for cell in cells]
    assert graded(in_colab, nbformat_minor=0).noticed == noticed
    without_names = [{key: value for key, value in cell.items() if key != "id"} for cell in cells]
    assert graded(without_names).noticed == noticed[1:]
    code = [cell for cell in cells if cell["cell_type"] == "code" and "check(" not in cell["source"]]
    assert graded(code).noticed == ("Prompts deleted: all.", "Checks deleted: all.")
    seen = [Graded(Person(name), (result,), ()) for name in ("ada", "bo")]
    page = class_page(seen, [], "x")
    assert re.search(r"Prompts edited: 03\.attention\.\s+<a href='feedback/ada\.html'>", page)
    assert "Prompts" not in feedback(seen[0], [])


@pytest.mark.parametrize("lesson", names_in(COURSE, "exercises"))
def test_notebooks_as_handed_out_are_not_taken_for_altered(lesson, tmp_path):
    paths = [COURSE / file_of("exercises", lesson), *release(COURSE, [lesson], tmp_path, Settings())]
    for path in (*paths, *export(COURSE, [lesson], tmp_path / "nbgrader", Settings())):
        notebook = read_notebook(path, lessons.names_by_lesson())
        assert notebook.lesson == lesson[:2]
        assert find_tampering(notebook.titled, notebook.cells, notebook.lesson) == [], path


@needs_sandbox
def test_an_answer_may_use_a_profiler(grade):
    code = "import cProfile, torch\ndef causal_mask(size):\n    with cProfile.Profile():\n        return torch.ones(size, size).tril().bool()"
    result = grade(code)
    assert state(result, "03.causal_mask") == "passed" and sum(p.points for p in score(result, Settings())) == 1


@pytest.mark.parametrize(
    "task_id", sampling.usually([task.id for of in catalogue.by_lesson().values() for task in of], 12)
)
def test_answers_may_call_offers_and_solutions_call_no_more(task_id):
    task = catalogue.load(task_id)
    report = judge_answer(task, solution_of(task_id))
    assert (report.state, report.borrowed) == ("passed", ()), report
    text = exercises_of(task_id[:2])
    for offer in task.offers:
        module, _, name = offer.rpartition(".")
        assert name in text and f"course_utils.{module}" in text, (
            f"{task_id} offers {offer}, its lesson does not speak of it"
        )


@pytest.mark.parametrize("task_id", [task.id for of in catalogue.by_lesson().values() for task in of])
def test_every_ordinary_case_changes_with_the_seed(task_id):
    """Else a table of right answers passes."""
    task, inputs = catalogue.load(task_id), {}
    for seed in range(2**100, 2**100 + 8):
        ordinary = [case for case in task.make_cases(seed) if not case.edge and not case.raises]
        for place, case in enumerate(ordinary):
            inputs.setdefault(place, []).append((pack(without_labels(case)), case.name))
    fixed = [came[0][1] for came in inputs.values() if len({what for what, _ in came}) == 1]
    assert not fixed, f"{task_id} asks the same in each grading: {fixed}"


# Seeds


@pytest.mark.parametrize("seed", ["2026", "0x" + "1" * 30, "g" * 32])
def test_a_seed_that_can_be_tried_out_is_refused(tmp_path, capsys, seed):
    (tmp_path / "a.ipynb").write_text(notebook(CAUSAL))
    assert main(["grade", str(tmp_path), "--out", str(tmp_path / "out"), "--seed", seed]) == 2
    said = capsys.readouterr().err
    assert "32 random hexadecimal digits" in said and "token_hex" in said and said.count("\n") == 1


def test_a_small_seed_is_refused_from_a_program_too(tmp_path):
    for seed in (0, 2**64, 2**128):
        with pytest.raises(CourseError, match="128 bits"):
            grade_class(tmp_path, tmp_path / "out", seed=seed)


# What can be read


@pytest.fixture(scope="module")
def in_secret(tmp_path_factory):
    """What is said of a notebook with one cell, which lies in a folder that is hidden from it; a mirror of data sets holds more than these."""
    secret = tmp_path_factory.mktemp("hidden") / "secret-name"
    secret.mkdir()
    path = secret / "03.ipynb"
    limits = budget.Limits(seconds=timeouts.SECONDS, whole=4 * timeouts.SECONDS)
    mirror = tmp_path_factory.mktemp("mirror")
    (mirror / "sst2").mkdir()
    for name in ("sst2/dev.tsv", "solutions.txt"):
        (mirror / name).write_text("what is in it")
    patched = pytest.MonkeyPatch()
    patched.setenv("COURSE_DATA_MIRROR", str(mirror))
    with Grader(2**100, policy.chosen(), limits, [secret]) as grader:
        patched.undo()

        def remark(cell):
            path.write_text(notebook(cell))
            return grader.grade(Found("eve", path, "03.ipynb"), "00" * 32).remarks[0]

        yield remark


@needs_sandbox
def test_arguments_and_environment_tell_nothing(in_secret):
    said = in_secret("import os, sys\nraise ValueError(repr((sys.argv, sys.orig_argv, sorted(os.environ))))")
    assert "ValueError: (['']," in said and "secret-name" not in said and "hidden" not in said
    names = set(re.findall(r"'([A-Z_]+)'", said))
    assert names <= {"COURSE_DATA_MIRROR", "COURSE_PROGRESS", "HOME", "LANG", "MPLBACKEND", "PATH"}


@needs_sandbox
def test_a_data_mirror_opens_its_data_sets_and_nothing_else(in_secret):
    """Otherwise, naming a folder too far above the data would open the solutions."""
    read = "import os\nmirror = os.environ['COURSE_DATA_MIRROR']\nraise ValueError(open(mirror + {!r}).read())"
    assert "what is in it" in in_secret(read.format("/sst2/dev.tsv"))
    assert "PermissionError" in in_secret(read.format("/solutions.txt"))


LOOKS = """
import gc, sys
needle = "-".join(["secret", "name"])
frame, seen = sys._getframe(), []
while frame:
    seen += [frame.f_locals, frame.f_globals]
    frame = frame.f_back
found = set()
waiting, known = [*seen, *gc.get_objects()], set()
while waiting:
    one = waiting.pop()
    if isinstance(one, (str, bytes)):
        text = one if isinstance(one, str) else one.decode("latin-1")
        found |= {text} if needle in text and text != needle else set()
    elif id(one) not in known:
        known.add(id(one))
        waiting += gc.get_referents(one)
raise ValueError(f"{len(known) > 10_000} {sorted(found)}")
"""


@needs_sandbox
def test_no_frame_global_or_closure_holds_a_hidden_path(in_secret):
    """The frame of the process's own `main` held the settings, with the paths of submissions, results and roster."""
    assert in_secret(LOOKS) == "Cell 1 failed: ValueError: True []"


def test_a_second_copy_of_the_course_cannot_be_read(tmp_path, monkeypatch):
    packages = tmp_path / "lib" / "python3.99" / "site-packages"
    for name in ("course_utils/checks", "course_lessons/shared", "torch_like"):
        (packages / name).mkdir(parents=True)
    libraries = policy._library_folders()
    monkeypatch.setattr(policy, "_library_folders", lambda: [*libraries, str(tmp_path / "lib")])
    policy._course_copies.cache_clear()
    try:
        shown = policy.readable()
    finally:
        policy._course_copies.cache_clear()
    assert str(packages / "torch_like") in shown
    assert not [path for path in shown for name in PACKAGES if (packages / name).is_relative_to(path)]


# Who is who


@pytest.mark.parametrize(
    "crafted",
    [
        "Ada Lovelace_123_45_x_99_assignsubmission_file_",  # her name and number, in the name of another
        "Ada Lovelace_123_assignsubmission_file_99_99_assignsubmission_file_",
        "Ada Lovelace_99_assignsubmission_file_",  # her name
        "adalovelace_99_assignsubmission_file_",
        "ada_99_assignsubmission_file_",  # her identifier as a name
        "ada_123_45_99_assignsubmission_file_",
        "ADA LOVELACE_LATE_99_assignsubmission_file_",
        "Eve_77_assignsubmission_file_",  # a number that is somebody's identifier
    ],
)
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize(
    "roster", [None, {"ada": Person("ada", "Ada Lovelace"), "eve": Person("eve", "Eve"), "77": Person("77", "Bob")}]
)
def test_no_display_name_merges_two_students(tmp_path, crafted, flat, roster):
    for name in ("Ada Lovelace_123_assignsubmission_file_", crafted):
        if flat:
            (tmp_path / f"{name}03.ipynb").write_text(notebook(CAUSAL))
        else:
            (tmp_path / name).mkdir()
            (tmp_path / name / "03.ipynb").write_text(notebook(CAUSAL))
    found = [one for one in find(tmp_path, roster) if one.file]
    assert len(found) == 2 and len({one.student for one in found}) == 2
    eves = next(one for one in found if one.file.startswith(crafted))
    assert roster is None or eves.student not in ("ada", "77")


def test_a_chosen_file_name_does_not_hide_who_canvas_says_it_is(tmp_path):
    for name in ("lovelaceada_123_4567_03_99_88_x.ipynb", "eve_99_4568_adalovelace_123_4567_x.ipynb"):
        (tmp_path / name).write_text(notebook(CAUSAL))
    roster = {"a": Person("a", "Ada Lovelace", other={"canvas_id": "123"}), "e": Person("e", "Eve")}
    assert {one.student: one.file[:3] for one in find(tmp_path, roster)} == {"a": "lov", "e": "eve"}
    assert canvas_id("lovelaceada_123_4567_03_99_88_x.ipynb") == "123"
    assert canvas_id("Ada Lovelace_123_assignsubmission_file_/x.ipynb") == ""


# Time


@pytest.mark.thorough
@needs_sandbox
def test_slow_cells_leave_time_for_answers(grade):
    slow = "end = time.process_time() + 12\nwhile time.process_time() < end: pass"
    result = grade("import time, torch", *[slow] * 4, PADDING, CAUSAL, ATTENTION)
    assert states(result) == ["passed", "passed", "passed", "missing"], result
    assert len(result.remarks) == 4


@needs_sandbox
def test_an_answer_exiting_behind_slow_cells_costs_only_itself(grader, grade, monkeypatch):
    monkeypatch.setattr(grader.sandbox, "limits", budget.Limits(seconds=2, whole=8))
    ends = "import os\ndef padding_mask(lengths, size):\n    os._exit(0)"
    result = grade("import time, torch\ndef helper(size):\n    return torch.ones(size, size)\ntime.sleep(4)", ends,
                   "def causal_mask(size):\n    return helper(size).tril().bool()", ATTENTION)  # fmt: skip
    assert states(result)[1:3] == ["passed", "passed"]


@needs_sandbox
@pytest.mark.parametrize(
    "text", ["chr(0xD800)", "chr(0xD800) * 10**5", "'\\0' * 10**5", "'\u00e9' * 10**5", "[chr(0xDFFF)] * 10**5"]
)
def test_a_text_of_any_kind_is_a_wrong_value_and_ends_no_process(grade, text):
    result = grade(f"def padding_mask(lengths, size):\n    return {text}", CAUSAL)
    assert (states(result)[0], result.suspicions) == ("failed", ())
    assert "a torch.Tensor was expected" in result.verdicts[0].message


STUBS = [f"def {name}(*args):\n    raise NotImplementedError" for name in ("padding_mask", "causal_mask", "attention")]
CHECKS = [f'check("03.{name}", {name})' for name in ("padding_mask", "causal_mask", "attention")]


@needs_sandbox
@pytest.mark.parametrize("answers", [STUBS, [PADDING, "import os; os._exit(0)", CAUSAL, ATTENTION]])
def test_cells_of_a_new_process_take_from_the_notebooks_time(grader, grade, monkeypatch, answers):
    """Forty cells of a tenth of a second, around stubs that are called, or an end of the process."""
    monkeypatch.setattr(grader.sandbox, "limits", budget.Limits(seconds=1, whole=6))
    monkeypatch.setattr(budget, "load_factor", lambda: 1.0)
    waits = ["import time, torch\nfrom course_utils import check\ntime.sleep(0.1)"] * 20
    again = ["import os, time\nif time.process_time() > 0: os._exit(0)"] if answers is not STUBS else []
    began = time.monotonic()
    result = grade(*waits, *again, *answers, *CHECKS, *waits)
    assert time.monotonic() - began < 2 * 6  # with seconds to start processes in
    assert "The 6 seconds that a notebook has for all its cells and answers were used up" in result.remarks[0]


@needs_sandbox
def test_a_slow_test_over_candidates_has_one_answers_time(grader, grade, monkeypatch):
    monkeypatch.setattr(grader.sandbox, "limits", budget.Limits(seconds=2, whole=6))
    monkeypatch.setattr(budget, "load_factor", lambda: 1.0)
    took, ask = [], grader.sandbox.ask

    def measured(*args):
        began = time.monotonic()
        try:
            return ask(*args)
        finally:
            took.append(time.monotonic() - began)

    monkeypatch.setattr(grader.sandbox, "ask", measured)
    slow = "import time, torch\ndef catch_wrong_attention(candidate):\n    time.sleep(0.9)\n    return good_test(candidate)"
    good = catalogue.solutions()["03.catch_wrong_attention"].replace("catch_wrong_attention", "good_test")
    given = "from course_utils.models.attention import attention as reference"
    grade("import torch\n" + given, good, slow)
    assert 2 < sum(took) < 4 + 2 * notebook_run.GRACE  # one candidate alone, then all within one answer's time


@needs_sandbox
def test_slow_cells_compute_no_longer_than_a_notebook_may(grader, grade, monkeypatch):
    monkeypatch.setattr(grader.sandbox, "limits", budget.Limits(seconds=1, whole=4))
    monkeypatch.setattr(budget, "load_factor", lambda: 8.0)  # as other work on the machine may make it seem
    grader.sandbox.restart()  # its processes have the limit with which it starts
    computed, end = [], grader.sandbox.end_process

    def counted():
        if grader.sandbox._pid is not None:
            ended = end()
            computed.append(grader.sandbox.computed)
            return ended
        return ""

    monkeypatch.setattr(grader.sandbox, "end_process", counted)
    slow = "import time\nuntil = time.process_time() + 0.4\nwhile time.process_time() < until: pass"
    grade(*[slow] * 20, *STUBS)
    monkeypatch.undo()
    grader.sandbox.restart()
    assert sum(computed) < 4 + 2, computed  # a process ends within its limit of CPU time


@needs_sandbox
def test_an_answer_stopped_early_is_not_said_to_use_all_its_time(grader, grade, monkeypatch):
    monkeypatch.setattr(grader.sandbox, "limits", budget.Limits(seconds=3, whole=4))
    monkeypatch.setattr(budget, "load_factor", lambda: 1.0)
    cells = [f"import time\ndef {name}(*args):\n    time.sleep(2.5)" for name in ("padding_mask", "causal_mask")]
    result = grade(*cells)
    assert states(result)[1] == "not run" and "not to its end" in result.verdicts[1].message


@needs_sandbox
def test_slow_cells_that_run_again_leave_time_for_answers_below(grader, grade, monkeypatch):
    monkeypatch.setattr(grader.sandbox, "limits", budget.Limits(seconds=2, whole=6))
    slow = "import time, torch\nfrom course_utils import check\ntime.sleep(1.2)"
    cells = [STUBS[0], 'check("03.padding_mask", padding_mask)', CAUSAL, PADDING, ATTENTION]
    assert states(grade(slow, *cells))[:3] == ["passed"] * 3


def test_a_value_of_many_parts_is_not_looked_at_part_by_part():
    assert explain._value((1,) * 690_000) is None and explain._value(dict.fromkeys(range(2000), 1)) is None
    assert explain._value((torch.ones(2), 3)) is not None and explain._value([1] * 500) is not None


def test_a_limit_goes_on_around_another():
    began = time.monotonic()
    with pytest.raises(TimeIsUp), time_limit(0.5):
        with time_limit(5):
            pass
        while time.monotonic() - began < 30:
            pass
    assert time.monotonic() - began < 30


def test_a_students_notebooks_with_most_answers_are_run(tmp_path):
    folder = a_class(tmp_path / "in", 1, s0=30)
    for i in range(40):
        (folder / "s0" / f"03_{i}.ipynb").write_text(
            notebook(CAUSAL if i == 7 else "# nothing yet", 'check("03.causal_mask", causal_mask)')
        )
    ran = list(lessons.worth_running(find(folder), ["03"]))
    assert [one.file.partition("/")[2] for one in ran] == ["03.ipynb", "03_7.ipynb", "stray29.ipynb"]
    assert "39 more notebooks of the same lesson were handed in" in " ".join(one.note for one in ran)


@needs_sandbox
@pytest.mark.parametrize(
    "finished, copy",
    sampling.usually([("03_final", "03_queries"), ("03_queries", "03_queries-checkpoint"), ("b/03", "old/03")], 1),
)
def test_an_untouched_copy_does_not_replace_the_finished_one(tmp_path, graded_here, finished, copy):
    for name, code in ((finished, CAUSAL), (copy, "def causal_mask(size):\n    raise NotImplementedError")):
        path = tmp_path / "in" / "ada" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook("import torch", code))
    grade_class(tmp_path / "in", tmp_path / "out")
    (row,) = grades(tmp_path / "out").values()
    assert row["total"] == "1"
    assert f"ada/{finished}.ipynb was graded and ada/{copy}.ipynb was not" in row["remarks"]


@needs_sandbox
@pytest.mark.parametrize(
    "cell",
    [
        "import subprocess\nsubprocess.run(['ls'])\nimport torch\n{}",
        "from no_such_library import Float\nimport torch\n{}",
        "import torch, time\ntime.sleep(4)\n{}",
        "import course_utils.learner.notebook as learner\nfrom course_utils.learner import notebook\nimport torch\n{}",
    ],
)
def test_a_stopped_cell_keeps_its_definitions(grader, grade, monkeypatch, cell):
    monkeypatch.setattr(grader.sandbox, "limits", budget.Limits(seconds=2, whole=8))
    assert state(grade(cell.format(CAUSAL)), "03.causal_mask") == "passed"


@needs_sandbox
def test_future_imports_hold_for_the_cells_below(grade):
    result = grade(
        "from __future__ import annotations\nimport torch",
        "def causal_mask(size: NoSuchName):\n    return torch.ones(size, size).tril().bool()",
    )
    assert result.remarks == () and state(result, "03.causal_mask") == "passed"


@needs_sandbox
def test_a_number_of_any_kind_answers_a_question(grade):
    given = "import torch, numpy, fractions\nfrom course_utils import check"
    for answer in ("0.75", "torch.tensor(0.75)", "numpy.float32(0.75)", "fractions.Fraction(3, 4)"):
        result = grade(given, f'check("02.q2", {answer}, seed=7)', name="02.ipynb")
        assert state(result, "02.q2") == "passed", answer


@needs_sandbox
def test_feedback_on_a_question_says_which_reply_is_wanted(grade):
    said = {"q1": "0.5", "q2": '"b"', "q3": '""', "q4": "[1]", "q5": "..."}
    checks = "\n".join(f'check("02.{name}", {answer}, seed=7)' for name, answer in said.items())
    result = grade("from course_utils import check", checks, name="02.ipynb")
    found = {verdict.task[3:]: why(verdict) for verdict in result.verdicts if verdict.task[3:] in said}
    assert found == {
        "q1": 'The answer should be one of the letters a to d in quotes, as in `check("02.q1", "…")`, not 0.5.',
        "q2": "The answer should be a number, as in `check(\"02.q2\", 0.5)`, not 'b'.",
        "q3": 'Replace the dots with one of the letters a to d: `check("02.q3", "…")`.',
        "q4": 'The notebook holds no `check("02.q4", …)` with a letter as its answer.',
        "q5": 'The notebook holds no `check("02.q5", …)` with a letter as its answer.',
    }


# What goes wrong around it


@pytest.mark.thorough
@needs_sandbox
def test_a_server_that_dies_while_it_starts_is_begun_once_more(monkeypatch, tmp_path):
    python, tried = policy.python(), []

    def dies_once():
        tried.append(1)
        return "/bin/false" if len(tried) == 1 else python

    monkeypatch.setattr(sandbox_client.policy, "python", dies_once)
    path = tmp_path / "03.ipynb"
    path.write_text(notebook("import torch", CAUSAL))
    with Grader(2**100, policy.chosen()) as grader:
        assert state(grader.grade(Found("ada", path, "03.ipynb"), "00" * 32), "03.causal_mask") == "passed"
    assert len(tried) == 2
    monkeypatch.setattr(sandbox_client.policy, "python", lambda: "/bin/false")
    with pytest.raises(policy.SandboxError, match="could not be started"):
        sandbox_client.SandboxClient(policy.chosen()).__enter__()


@pytest.mark.parametrize(
    "wrong",
    [
        {"journal": 1, "seed": "2026", "began": "2026-01-01T00:00:00+00:00", "layers": ""},
        {"journal": 1, "seed": 5, "began": "2026-01-01T00:00:00+00:00", "layers": "", "lessons": [3]},
        {k: v for k, v in Result("ab" * 32, "ada", "x", "03").to_json().items() if k != "verdicts"},
        Result("ab" * 32, "ada", "x", "03").to_json() | {"verdicts": [{"task": "x"}]},
    ],
)
def test_a_line_that_no_grading_writes_is_a_sentence(tmp_path, wrong):
    with Journal(tmp_path) as journal:
        journal.begin(SEED, "")
    with open(tmp_path / "journal.jsonl", "a") as file:
        file.write(json.dumps(wrong) + "\n")
    with pytest.raises(JournalError, match="holds something else than a grading's results"), Journal(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such files")
def test_a_pipe_in_place_of_the_journal_is_refused(tmp_path):
    os.mkfifo(tmp_path / "journal.jsonl")  # reading it would wait for a writer
    with pytest.raises(JournalError, match="a pipe, a socket or a device"), time_limit(10), Journal(tmp_path):
        pass


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("name", ["journal.jsonl", "journal.lock"])
@pytest.mark.parametrize("target", ["nowhere", "a_file", "another_journal"])
def test_a_link_in_place_of_the_journal_is_refused(tmp_path, name, target):
    out, elsewhere = tmp_path / "out", tmp_path / target
    with Journal(out) as journal:
        journal.begin(SEED, "")
    if target != "nowhere":
        elsewhere.write_bytes((out / "journal.jsonl").read_bytes() if target == "another_journal" else b"")
    before = elsewhere.read_bytes() if elsewhere.exists() else None
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(elsewhere)
    with pytest.raises(JournalError, match=f"{name} is a link, which is not written through"), Journal(out) as journal:
        journal.begin(SEED + 1, "")
    assert (elsewhere.read_bytes() if elsewhere.exists() else None) == before


def test_folders_left_by_killed_processes_go_at_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(files, "SECONDS_TO_LOCK", -1)
    code = (
        f"import os, tempfile\ntempfile.tempdir = {str(tmp_path)!r}\nfrom course_utils.base.files import scratch\n"
        "with scratch('course-grade') as folder:\n    (folder / 'x').touch()\n    os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], timeout=timeouts.SECONDS)
    left = list(tmp_path.iterdir())
    assert len(left) == 1
    (tmp_path / "course-grade-of-somebody-else").mkdir()
    with files.scratch("course-grade") as mine, files.scratch("course-grade") as other:
        assert set(tmp_path.iterdir()) == {mine, other, tmp_path / "course-grade-of-somebody-else"}
    assert [path.name for path in tmp_path.iterdir()] == ["course-grade-of-somebody-else"]


FULL = """
import resource, sys
import matplotlib.font_manager  # which writes a cache of its own, the first time
from course_utils.commands import main
sys.dont_write_bytecode = True  # half a file of it would be left behind
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on a file's size")
@pytest.mark.parametrize(
    "line",
    sampling.usually(
        [
            "release 03 --out {out}",
            "export nbgrader {out} 03",
            "export gradescope {out} 03",
            "translate {text} --picture {out}/p.png",
            "term {results} --out {out}",
        ],
        2,
    ),
)
def test_a_full_disk_is_a_sentence_with_the_files_name(tmp_path, line):
    places = {name: str(tmp_path / name) for name in ("out", "text", "results")}
    (tmp_path / "out").mkdir()
    (tmp_path / "text").write_text("Two dogs play in the snow.\n")
    (tmp_path / "results").mkdir()
    rows = "".join(f'"s{i}","",1,1,1\n' for i in range(500))
    (tmp_path / "results" / "grades.csv").write_text('"student","name","total","possible","03.x points"\n' + rows)
    command = [sys.executable, "-c", FULL, *line.format(**places).split()]
    root = policy.PACKAGE.parent
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=timeouts.SECONDS)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert re.fullmatch(rf"course: cannot use {re.escape(str(tmp_path / 'out'))}/\S+: File too large\n", done.stderr)
    assert not list((tmp_path / "out").rglob("*.tmp"))
