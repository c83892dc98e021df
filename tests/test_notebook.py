"""What a notebook calls: check, hint, solution, progress; and the file that keeps a learner's progress."""

import json
import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from course_utils import check, hint, progress, solution
from course_utils.base.places import learners_folder
from course_utils.checks.answer import judge_answer
from course_utils.learner import notebook, state


@pytest.fixture(autouse=True)
def course_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_HOME", str(tmp_path))
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(state, "_in_memory", {})
    return tmp_path


def kept(folder):
    return json.loads((folder / ".course" / "progress.json").read_text())["tasks"]


def right(state, hidden):
    return state @ hidden.mT


def wrong(state, hidden):
    return hidden @ state.mT


def test_check_returns_and_shows_its_report(course_folder, capsys):
    report = check("04.dot", wrong)
    assert (report.state, report.mistake, report.kind) == ("failed", "transposed", "shape")
    assert str(report) in capsys.readouterr().out
    assert "Rows and columns are exchanged" in report.message
    assert kept(course_folder)["04.dot"] == {"state": "failed", "passed": False, "attempts": 1}


def test_passed_stays_passed(course_folder):
    check("04.dot", right)
    check("04.dot", wrong)
    assert kept(course_folder)["04.dot"] == {"state": "failed", "passed": True, "attempts": 2}


def test_not_attempted_is_no_attempt(course_folder, capsys):
    def dot(state, hidden):
        raise NotImplementedError

    assert check("04.dot", dot).state == "not attempted"
    assert kept(course_folder)["04.dot"]["attempts"] == 0
    solution("04.dot")
    assert "Try 04.dot first" in capsys.readouterr().out


def test_hints_come_one_at_a_time_and_the_report_says_which_is_next(capsys):
    assert "hint 1 of 3" in check("04.dot", wrong).note
    hint("04.dot")
    assert "hint 2 of 3" in check("04.dot", wrong).note
    for _ in range(4):
        hint("04.dot")
    out = capsys.readouterr().out
    assert [f"Hint {n} of 3" in out for n in (1, 2, 3, 4)] == [True, True, True, False]
    assert "That was the last one" in out
    assert "You have seen all hints" in check("04.dot", wrong).note
    progress()
    assert "hints 3" in capsys.readouterr().out  # and not 5


def test_solution_after_an_attempt_or_by_force(capsys):
    solution("04.dot", force=True)
    assert "def dot(state, hidden)" in capsys.readouterr().out
    check("04.dot", wrong)
    capsys.readouterr()
    solution("04.dot")
    out = capsys.readouterr().out
    assert "def dot(state, hidden)" in out and "SOLUTION" not in out


def test_progress_counts_and_lists_every_task(capsys):
    check("04.dot", right)
    check("00.weighted_sum", lambda w, v: w)
    capsys.readouterr()
    progress()
    out = capsys.readouterr().out
    assert out.startswith("1 of ")
    assert "✓ 04.dot" in out and "✗ 00.weighted_sum" in out and "○ 02.softmax" in out


@pytest.mark.parametrize("call", [lambda i: check(i, right), hint, solution])
@pytest.mark.parametrize("unknown", ["04.dott", "99.x", "dot", "", 4, None])
def test_an_unknown_task_gives_a_sentence(call, unknown, capsys):
    call(unknown)
    assert "There is no task" in capsys.readouterr().out


def test_a_damaged_file_is_set_aside(course_folder, capsys):
    folder = course_folder / ".course"
    folder.mkdir()
    entries = ("1", '{"state": "done"}', '{"state": ["x"]}', '{"hints": -10}', '{"passed": 1}', '{"attempts": "2"}')
    damages = ["{half", "[]", '{"tasks": 3}', "\x00", *(f'{{"tasks": {{"04.dot": {entry}}}}}' for entry in entries)]
    for n, damage in enumerate(damages, 1):
        (folder / "progress.json").write_text(damage)
        check("04.dot", right)
        assert f"kept as progress-damaged-{n}.json" in capsys.readouterr().out
        assert (folder / f"progress-damaged-{n}.json").read_text() == damage
        assert kept(course_folder)["04.dot"]["passed"]


def test_what_was_set_aside_is_never_overwritten(course_folder):
    folder = course_folder / ".course"
    folder.mkdir()
    for text in ("first", "second"):
        (folder / "progress.json").write_text(text)
        progress()
    (folder / "progress-damaged-1.json").unlink()
    (folder / "progress.json").write_text("third")
    progress()
    kept_aside = {path.name: path.read_text() for path in folder.glob("progress-damaged-*")}
    assert kept_aside == {"progress-damaged-1.json": "third", "progress-damaged-2.json": "second"}


def test_a_file_that_cannot_be_read_just_now_is_not_overwritten(course_folder, monkeypatch, capsys):
    check("00.weighted_sum", lambda w, v: w @ v)
    before = (course_folder / ".course" / "progress.json").read_text()

    def refuse(*args, **options):
        raise PermissionError("in use")

    with monkeypatch.context() as context:
        context.setattr("pathlib.Path.read_text", refuse)
        check("04.dot", right)
        progress()
    assert (course_folder / ".course" / "progress.json").read_text() == before
    assert "kept only until this notebook closes" in capsys.readouterr().out


@pytest.mark.parametrize("options", [{"seconds": 0}, {"seconds": -1}, {"seconds": "5"}, {"seed": 0.5}])
def test_a_limit_or_seed_that_is_none_gets_a_sentence(options, capsys):
    assert check("04.dot", right, **options) is None
    assert "seconds above 0" in capsys.readouterr().out


def test_an_unwritable_folder_is_told_once_and_blocks_nothing(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file" / "below"))
    assert check("04.dot", wrong).state == "failed"
    assert "kept only until this notebook closes" in capsys.readouterr().out
    check("04.dot", right)
    progress()
    out = capsys.readouterr().out
    assert "kept only" not in out and "✓ 04.dot" in out


def test_two_notebooks_at_once_lose_nothing(course_folder):
    code = "from course_utils.learner import state\nfor i in range(60):\n    state.change(f'{%d}.{i}', lambda e: e.update(attempts=1))"
    writers = [subprocess.Popen([sys.executable, "-c", code % n]) for n in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(kept(course_folder)) == 120


def test_the_course_folder_is_found_from_below(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_HOME")
    (tmp_path / "exercises" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "exercises" / "deep")
    assert learners_folder() == tmp_path


def test_progress_can_be_switched_off(course_folder, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    check("04.dot", right)
    assert not (course_folder / ".course").exists()


@pytest.fixture
def shell():
    shell = InteractiveShell.instance()
    yield shell
    InteractiveShell.clear_instance()


def test_a_notebook_shows_a_report_once(shell):
    shell.run_cell("from course_utils import check\nimport torch")
    with capture_output() as captured:
        shell.run_cell("check('04.dot', lambda s, h: h @ s.mT)")
    (shown,) = captured.outputs
    assert "Rows and columns are exchanged" in shown.data["text/html"]
    assert shown.data["text/plain"].startswith("✗ 04.dot")


def test_html_uses_the_themes_text_colour_and_says_the_verdict_in_words():
    html = judge_answer(notebook._find("04.dot"), wrong)._repr_html_()
    assert "aria-label='Check of 04.dot: failed'" in html
    assert "color:black" not in html and "background:white" not in html and "<style" not in html
    tables = judge_answer(notebook._find("04.dot"), lambda s, h: s @ h.mT + 1)._repr_html_()
    assert "expected" in tables and "received" in tables and "≠" in tables


def test_importing_the_package_is_cheap():
    loaded = "import sys, course_utils; print([m for m in sys.modules if m.split('.')[0] in ('torch', 'matplotlib', 'IPython')])"
    result = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
