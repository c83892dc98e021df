"""Which tests and notebooks are taken after a change, and which are taken for known."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import sampling
from repository import ROOT

from course_utils.authoring import impact, testing
from course_utils.base.errors import CourseError


@pytest.fixture
def course(tmp_path):
    """A folder under git with a file, and the answers to two tasks."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "one.py").write_text("1\n")
    (tmp_path / impact.SOLUTIONS).parent.mkdir(parents=True)
    (tmp_path / impact.SOLUTIONS).write_text(json.dumps({"02.softmax": "a", "02.dot_scores": "b"}))
    return tmp_path


def test_changed_since_success_finds_what_has_changed(course):
    assert impact.changed_since_success(course) is None
    impact.record_success(course)
    assert impact.changed_since_success(course) == set()
    (course / "one.py").write_text("2\n")
    (course / "two.py").write_text("2\n")
    (course / impact.SOLUTIONS).write_text(json.dumps({"02.softmax": "changed", "02.dot_scores": "b"}))
    assert impact.changed_since_success(course) == {"one.py", "two.py", "02.softmax"}
    impact.record_success(course)
    (course / "two.py").unlink()
    assert impact.changed_since_success(course) == {"two.py"}


def test_a_damaged_or_foreign_record_counts_for_nothing(course, monkeypatch):
    impact.record_success(course)
    monkeypatch.setattr(impact, "version", lambda name: "0.1")
    assert impact.changed_since_success(course) is None
    (course / impact.KEPT).write_text("{")
    assert impact.changed_since_success(course) is None


def test_changed_since_success_says_that_git_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    impact.record_success(tmp_path)
    assert not (tmp_path / impact.KEPT).exists()
    (tmp_path / "build").mkdir()
    (tmp_path / impact.KEPT).write_text("{}")
    with pytest.raises(CourseError, match="asks git which files there are"):
        impact.changed_since_success(tmp_path)


def test_the_last_commit_says_what_has_changed(course):
    def commit():
        subprocess.run(["git", "add", "."], cwd=course, check=True)
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, "commit", "-qm", "x"], cwd=course, check=True)

    commit()
    assert impact.changed_by_last_commit(course) is None
    (course / "one.py").write_text("2\n")
    commit()
    (course / "two.py").write_text("2\n")
    assert impact.changed_by_last_commit(course) == {"one.py", "two.py"}


BOTH = [f"{folder}/{number}" for folder in ("notebooks", "solutions") for number in ("13", "14", "16")]


@pytest.mark.parametrize(
    ("record", "changed", "left_out"),
    [
        (None, {"docs/setup.md"}, BOTH),
        (None, None, []),  # a clone of one commit only
        (None, {"constraints.txt"}, []),
        (set(), None, BOTH),
        (None, {"course_lessons/lesson_13_training/lesson.py"}, [each for each in BOTH if each != "notebooks/13"]),
        (
            {"course_lessons/lesson_14_glimpses/tasks/glimpse.py"},
            set(),
            [each for each in BOTH if each != "solutions/14"],
        ),
        ({"course_utils/models/memory.py"}, set(), [each for each in BOTH if each[-2:] != "16"]),
        ("of another environment", set(), []),
    ],
)
def test_long_notebooks_run_where_what_they_use_has_changed(record, changed, left_out, monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(
        testing, "_pytest", lambda root, *arguments, **_: seen.extend(arguments) or testing.Step("notebooks")
    )
    assert {each[-2:] for each in BOTH} < {*testing.LONG}
    monkeypatch.setattr(testing, "LONG", {each[-2:] for each in BOTH})
    monkeypatch.setattr(impact, "KEPT", tmp_path / "record")
    if record is not None:
        impact.KEPT.touch()
    monkeypatch.setattr(impact, "changed_since_success", lambda root: record if isinstance(record, set) else None)
    monkeypatch.setattr(impact, "changed_by_last_commit", lambda root: changed)
    step = testing._usual_notebooks(ROOT)
    ignored = [each.partition("=")[2] for each in seen if each.startswith("--ignore")]
    assert [each.partition("_")[0] for each in ignored] == left_out and sum(step.left.values()) == len(left_out)
    assert all((ROOT / each).is_file() for each in ignored)


def taken(*names):
    """The tests of some files that are taken after these changes, and what is said of them."""
    files = [f"tests/test_{name}.py" for name in ("tasks", "lint", "build", "docs", "snail", "base")]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "-p",
        "no:cacheprovider",
        "-p",
        impact.__name__,
    ]
    environment = {**os.environ, **impact.as_variable(set(names)), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, *files], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line], done.stderr


@pytest.mark.parametrize(
    "name",
    sampling.usually(
        [
            "course_lessons/lesson_02_weighted_sums/tasks/softmax.py",
            "course_lessons/lesson_02_weighted_sums/alternative_solutions/softmax.py",
            "02.softmax",
        ],
        1,
    ),
)
def test_a_changed_task_selects_the_tests_that_name_it(name):
    tests, said = taken(name)
    assert "tests/test_tasks.py::test_a_task_is_complete[02.softmax]" in tests
    assert "tests/test_tasks.py::test_an_error_in_a_tasks_file_is_shown" in tests  # its text names the task
    assert not any(other in test for test in tests for other in ("02.dot_scores", "test_lint", "test_snail"))
    assert f"{len(tests)} tests are taken" in said and f"{len(tests)} as they name 02.softmax" in said


@pytest.mark.thorough
def test_a_changed_module_selects_the_tests_that_use_it():
    tests, said = taken("course_utils/authoring/lint.py")
    assert {test.partition("::")[0] for test in tests} == {"tests/test_lint.py"}
    assert "as they use course_utils/authoring/lint.py" in said
    tests, _ = taken("course_utils/base/trees.py")
    assert "tests/test_tasks.py" in {test.partition("::")[0] for test in tests}


@pytest.mark.thorough
def test_a_changed_helper_selects_the_tasks_that_import_it():
    tests, _ = taken("course_lessons/lesson_04_alignment_scores/tasks/_scores.py")
    named = {test.partition("[")[2] for test in tests if "test_a_task_is_complete" in test}
    assert {"04.dot]", "04.catch_wrong_scores]"} <= named and all(name.startswith("04.") for name in named)


def test_a_changed_page_selects_the_tests_that_read_it():
    hangs = impact.Impact(ROOT, {"docs/setup.md"})
    files = {name: SimpleNamespace(path=ROOT / "tests" / f"test_{name}.py", nodeid="") for name in ("docs", "tasks")}
    assert hangs.reason(files["docs"]) == "they read docs/setup.md" and hangs.reason(files["tasks"]) is None


@pytest.mark.thorough
def test_a_changed_file_behind_all_tests_selects_them_all():
    assert len(taken("tests/conftest.py")[0]) == len(taken("tests/sampling.py")[0]) > 1000


@pytest.mark.thorough
def test_the_notebooks_that_run_what_has_changed_are_taken():
    folders = ("notebooks", "solutions")
    task, lesson = "lesson_02_weighted_sums/tasks/softmax.py", "lesson_03_queries_keys_values/lesson.py"
    known = {f"course_lessons/{name}" for name in (task, lesson)} | {"docs/setup.md"}
    assert sorted(impact.notebooks(ROOT, known, folders)) == [
        "notebooks/03_queries_keys_values.ipynb",
        "solutions/02_weighted_sums.ipynb",
    ]
    every = list((ROOT / "solutions").glob("[0-9]*.ipynb"))
    assert len(impact.notebooks(ROOT, {"course_utils/checks/judge.py"}, ("solutions",))) == len(every)
