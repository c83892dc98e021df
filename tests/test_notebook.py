"""What a notebook calls: check, hint, solution, progress; and the file that keeps a learner's progress."""

import ast
import inspect
import io
import json
import re
import subprocess
import sys
import warnings

import nbclient
import nbformat
import numpy as np
import pytest
import torch
from IPython.utils.capture import capture_output

import course_utils
from course_utils import check, hint, predict, progress, reveal, solution
from course_utils.base.paths import learners_folder
from course_utils.checks import catalogue
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.report import in_text, side_by_side
from course_utils.commands.lab import STARTUP
from course_utils.learner import history, notebook, state

pytestmark = pytest.mark.usefixtures("course_folder")


def kept(folder):
    return json.loads((folder / ".course" / "progress.json").read_text())["tasks"]


def right(state, hidden):
    return state @ hidden.mT


def wrong(state, hidden):
    return hidden @ state.mT


def test_check_returns_and_shows_its_report_and_keeps_a_pass(course_folder, capsys):
    report = check("04.dot", wrong)
    assert (report.state, report.mistake, report.kind) == ("failed", "transposed", "shape")
    assert str(report) in capsys.readouterr().out
    assert "Rows and columns are swapped" in report.message
    assert kept(course_folder)["04.dot"] == {"state": "failed", "passed": False, "attempts": 1}
    check("04.dot", right)
    check("04.dot", wrong)
    assert kept(course_folder)["04.dot"] == {"state": "failed", "passed": True, "attempts": 3}


def test_a_stub_that_was_checked_counts_as_no_attempt(course_folder, capsys):
    def dot(state, hidden):
        raise NotImplementedError

    assert check("04.dot", dot).state == "not attempted"
    assert kept(course_folder)["04.dot"]["attempts"] == 0
    for _ in range(3):
        hint("04.dot")
    assert 'Once you have tried it, `solution("04.dot")` shows a solution.' in capsys.readouterr().out
    solution("04.dot")
    assert "Try 04.dot first: write an answer and run its check. Then this shows a solution" in capsys.readouterr().out


@pytest.mark.parametrize("task_id", ["04.dot", "12.encoder_layer"])
def test_check_given_the_result_of_a_call_asks_for_the_function(task_id):
    report = check(task_id, print(end=""))
    name = catalogue.load(task_id).answer_name
    assert report.state == "not attempted" and report.message.endswith(f'`check("{task_id}", {name})`.')
    assert "check was given None" in report.message and "NotImplementedError" not in report.message


def test_hints_come_one_at_a_time_and_the_report_names_the_next(capsys):
    assert "hint 1 of 3" in check("04.dot", wrong).note
    hint("04.dot")
    assert "hint 2 of 3" in check("04.dot", wrong).note
    for _ in range(4):
        hint("04.dot")
    out = capsys.readouterr().out
    assert [f"Hint {n} of 3" in out for n in (1, 2, 3, 4)] == [True, True, True, False]
    assert 'That was the last one. `solution("04.dot")` shows a solution.' in out
    assert 'You have seen all hints. `solution("04.dot")` shows a solution.' in check("04.dot", wrong).note
    progress()
    assert "hints 3" in capsys.readouterr().out  # and not 5


def test_solution_is_shown_after_an_attempt_or_by_force(capsys):
    solution("04.dot", force=True)
    assert "def dot(state, hidden)" in capsys.readouterr().out
    check("04.dot", wrong)
    capsys.readouterr()
    solution("04.dot")
    out = capsys.readouterr().out
    assert "def dot(state, hidden)" in out and "SOLUTION" not in out


def test_a_solution_is_shown_as_code_without_its_docstring(monkeypatch):
    monkeypatch.setattr(
        catalogue,
        "solutions",
        lambda: {
            "04.dot": 'def dot(state, hidden):\n    """Return.\n\n    More."""\n    return state @ hidden.mT  # <S>'
        },
    )
    shown = []
    monkeypatch.setattr(notebook, "_show", shown.append)
    solution("04.dot", force=True)
    text = "def dot(state, hidden):\n    return state @ hidden.mT  # <S>"
    assert repr(shown[0]) == text and shown[0]._repr_markdown_() == f"```python\n{text}\n```"
    assert shown[0]._repr_html_() is None  # a notebook would show it and not the Markdown


def test_solution_shows_the_sentence_that_holds_its_place(monkeypatch, capsys):
    monkeypatch.setattr(catalogue, "solutions", lambda: {"04.dot": "# The solutions are handed out from Monday on."})
    solution("04.dot", force=True)
    assert capsys.readouterr().out == "The solutions are handed out from Monday on.\n"


def test_progress_counts_every_task_and_shows_the_lessons_begun(capsys):
    check("04.dot", right)
    check("00.weighted_sum", lambda w, v: w)
    capsys.readouterr()
    progress()
    out = capsys.readouterr().out
    assert out.startswith("1 of ")
    assert "✓ 04.dot" in out and "✗ 00.weighted_sum" in out and "○ 04.perceptron" in out
    assert "02 Weighted sums" not in out
    progress(all=True)
    out = capsys.readouterr().out
    assert "02 Weighted sums: 0 of " in out and "02.softmax" not in out


def test_progress_says_that_a_task_passed_before_fails_now(capsys):
    for answer, counts, says in (
        (right, r"1 of \d+ tasks passed,", "✓ 04.dot +passed +"),
        (wrong, r"0 of \d+ tasks passed \(1 more passed before\),", "✗ 04.dot +passed before, fails now +"),
    ):
        check("04.dot", answer)
        capsys.readouterr()
        progress()
        out = capsys.readouterr().out
        assert re.match(counts, out) and re.search(f"{says}attempts", out)
    state.change("04.dot", lambda entry: entry.update(state="not attempted"), print)  # as an update of its task does
    progress()
    assert "○ 04.dot                     passed before, changed since  attempts  2" in (out := capsys.readouterr().out)
    assert "Check 04.dot again: changed since. Next comes 04." in out
    progress("04")
    assert "Check 04.dot again: changed since. Next comes 04." in capsys.readouterr().out


def test_an_async_answer_is_named_without_pythons_warning(capsys):
    async def answer(state, hidden):
        return state @ hidden

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check("04.dot", answer)
    assert "write `def` alone" in capsys.readouterr().out
    assert not [each for each in told if each.category is RuntimeWarning]


def test_a_call_without_an_answer_leaves_the_record_alone(course_folder):
    check("04.dot", right)
    before = kept(course_folder)
    for given in ("dot", torch.zeros(2, 2), 3):
        assert check("04.dot", given).state in ("failed", "error")
        assert kept(course_folder) == before


def test_help_of_check_shows_no_address():
    assert "answer=left out" in str(inspect.signature(check)) and " object at 0x" not in str(inspect.signature(check))


def test_columns_of_progress_are_as_wide_as_the_longest_name(capsys):
    check("09.restricted_self_attention", wrong)
    capsys.readouterr()
    progress()
    rows = [line for line in capsys.readouterr().out.splitlines() if "  attempts" in line]
    assert len({line.index("  attempts") for line in rows}) == 1


def test_a_hint_is_shown_again_after_a_restart(capsys, monkeypatch):
    hint("04.dot")
    hint("04.dot")
    monkeypatch.setattr(notebook, "session", notebook.Session())  # as in a new kernel
    capsys.readouterr()
    for n in (2, 3):
        hint("04.dot")
        assert f"Hint {n} of 3" in capsys.readouterr().out


def test_a_check_refuses_the_answer_to_another_task(capsys, monkeypatch):
    def softmax(scores):
        return scores.softmax(-1)

    def dot_scores(query, keys):
        raise NotImplementedError

    monkeypatch.setattr(notebook.history, "namespace", lambda: {"softmax": softmax, "dot_scores": dot_scores})
    before = dict(state.read())
    check("02.dot_scores", softmax)
    said = capsys.readouterr().out
    assert (
        '`softmax` is the answer to 02.softmax: for 02.dot_scores, write `check("02.dot_scores", dot_scores)`' in said
    )
    assert state.read() == before
    monkeypatch.setattr(notebook.history, "namespace", lambda: {"softmax": softmax, "dot_scores": softmax})
    check("02.dot_scores", softmax)  # one function under both names
    assert "is the answer to" not in capsys.readouterr().out


def test_checking_the_same_answer_again_is_no_further_attempt():
    entry = {}
    for cell, reached, attempts in (
        ("a", "failed", 1),
        ("a", "failed", 1),
        ("b", "failed", 2),
        ("b", "passed", 3),
        ("b", "passed", 3),
        ("", "passed", 4),
    ):
        notebook._count_attempt(entry, reached, cell)
        assert entry["attempts"] == attempts, (cell, reached)


def test_progress_keeps_a_wrong_reply_to_a_question_shown_again(capsys):
    state.change("04.q1", lambda entry: notebook._count_attempt(entry, "failed"), print)
    check("04.q1", ...)
    capsys.readouterr()
    progress()
    out = capsys.readouterr().out
    assert "✗ 04.q1" in out and "changed since" not in out


def test_progress_says_what_comes_next(capsys):
    def printed_progress():
        capsys.readouterr()
        progress()
        return capsys.readouterr().out.splitlines()

    first, following = catalogue.lessons()["00"], catalogue.asked("04", questions=True)[1]
    said_first = f"Next comes lesson 00, {first.title}: {first.question} `progress(all=True)` shows every lesson."
    assert printed_progress()[2:] == [said_first]
    hint("04.dot")
    assert printed_progress()[-1].startswith("Next comes 04.dot, ")
    check("04.dot", right)
    assert printed_progress()[-1].startswith(f"Next comes {following.id}, {following.title}. ")
    last = list(catalogue.by_lesson())[-1]
    for task in catalogue.asked(last, questions=True):
        state.change(task.id, lambda entry: notebook._count_attempt(entry, "passed"), print)
    out = printed_progress()
    assert out[-1].startswith("You have finished the last lesson. ")
    assert [line for line in out if line.startswith(f"{last} ")] and not [line for line in out if f" {last}." in line]


def half(state, hidden):
    """Stops with half a surrogate pair, which no encoding can write; the code around it is shown too."""
    print("\ud83d")
    raise ValueError("√2 is \ud83d")


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "utf-8"])
def test_plain_signs_replace_those_that_cannot_be_written(encoding, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    for answer in (right, wrong, half):
        check("04.dot", answer)
    check("04.\ud83d", right)
    progress()
    sys.stdout.flush()
    out = sys.stdout.buffer.getvalue().decode(encoding)
    passed, failed, root = (
        ("✓", "✗", "√") if encoding == "utf-8" else ("+", "x", "√" if encoding == "cp437" else "sqrt ")
    )
    assert f"{passed} 04.dot" in out and f"{failed} 04.dot" in out and f"{root}2 is ?" in out


def test_a_notebook_shows_what_holds_half_a_surrogate_pair(shell, capsys):
    for message in (check("04.dot", half), notebook.Message("\ud83d")):
        message._repr_html_().encode()  # as a kernel sends it
    assert "is ?" in capsys.readouterr().out


def test_progress_as_a_table_has_a_heading_for_each_lesson(monkeypatch):
    check("04.dot", right)
    shown = []
    monkeypatch.setattr(notebook, "_show", shown.append)
    progress(all=True)
    html = shown[0]._repr_html_()
    assert html.count("<tbody>") == html.count("scope='rowgroup'") == len(catalogue.by_lesson())
    before, _, lesson = html.partition("04 Alignment scores: 1 of ")
    lesson = lesson.partition("05 Seq2Seq: 0 of ")[0]
    assert re.findall(r"04\.\w+", lesson) == [task.id for task in catalogue.asked("04", questions=True)]
    assert "tasks passed, 0 of 5 questions right" in lesson and "04." not in before


@pytest.mark.parametrize(
    ("answer", "state"),
    [("12,288", "passed"), ("12 288", "passed"), ("12.288", "passed"), (12288, "passed"), (12.288, "failed")],
)
def test_a_number_of_thousands_may_be_written_with_a_separator(answer, state):
    assert catalogue.load("21.q4").judge(answer).state == state


@pytest.mark.parametrize("lesson", ["04", 4, "04_alignment_scores"])
def test_progress_shows_one_lesson_alone(lesson, capsys):
    check("04.dot", right)
    check("02.q1", "a")
    capsys.readouterr()
    progress(lesson)
    out = capsys.readouterr().out
    assert "04 Alignment scores: 1 of " in out and "02.q1" not in out
    progress("99")
    assert "There is no lesson '99'" in capsys.readouterr().out


def test_progress_of_one_lesson_ends_with_its_next_task(capsys):
    def printed_next():
        capsys.readouterr()
        progress("04")
        return capsys.readouterr().out.splitlines()[-1]

    hint(catalogue.by_lesson()["05"][0].id)
    first, second, *_ = tasks = catalogue.asked("04", questions=True)
    assert printed_next().startswith(f"Next comes {first.id}, ")
    for task in tasks:
        state.change(task.id, lambda entry: notebook._count_attempt(entry, "passed"), print)
    assert printed_next().startswith("Next comes 05.")  # nothing is left in the lesson
    state.change(second.id, lambda entry: notebook._count_attempt(entry, "failed"), print)
    assert printed_next().startswith(f"Next comes {second.id}, ")  # passed before, fails now


@pytest.mark.parametrize("use", [check, hint])
def test_an_unknown_number_of_a_question_suggests_no_other(use, capsys):
    use("00.q9")
    assert 'There is no task "00.q9". Lesson 00 has ' in capsys.readouterr().out
    use("0.q1")
    assert '(did you mean "00.q1"?)' in capsys.readouterr().out


def test_a_question_called_wrongly_is_shown_with_its_own_id(capsys):
    check("00.q3", "a", "b")
    assert 'Use it like this: `check("00.q3", "a")`' in capsys.readouterr().out


def test_a_demonstration_is_not_kept_and_hides_nothing_that_is(course_folder, capsys):
    assert "hint 1 of 3" in check("04.dot", wrong, keep=False).note
    check("02.q1", "a", keep=False)
    hint("04.dot", keep=False)
    assert kept(course_folder) == {} and not state._in_memory
    check("04.dot", right)
    hint("04.dot")
    before = kept(course_folder)
    assert "hint 2 of 3" in check("04.dot", wrong, keep=False).note
    hint("04.dot", keep=False)
    assert kept(course_folder) == before
    capsys.readouterr()
    progress()
    assert capsys.readouterr().out.startswith("1 of ")


@pytest.mark.parametrize("call", [lambda i: check(i, right), hint, solution, notebook.play])
def test_an_unknown_task_gets_a_sentence_that_completes_its_id(call, monkeypatch, capsys):
    monkeypatch.setattr(history, "in_notebook", lambda: True)
    for unknown in ("04.dott", "99.x", "", "02.q9", "two_hops_by_hand", "15.two_hops_by_hand", " 16.two_hops_by_hand"):
        call(unknown)
        assert f'There is no task "{unknown}"' in (out := capsys.readouterr().out)
        assert ('did you mean "16.two_hops_by_hand"?' in out) == ("two_hops" in unknown)


@pytest.mark.parametrize(("written", "meant"), [("0.q1", "00.q1"), ("5.q3", "05.q3"), ("2.softmax", "02.softmax")])
def test_an_id_without_its_first_nought_is_completed(written, meant, capsys):
    check(written, "a")
    assert f'There is no task "{written}"' in (out := capsys.readouterr().out) and f'did you mean "{meant}"?' in out


def test_an_id_of_several_lessons_is_completed_with_each_of_them(capsys):
    several = {}
    for task in (task for of_lesson in catalogue.by_lesson().values() for task in of_lesson):
        several.setdefault(task.id[3:], []).append(f'"{task.id}"')
    name, ids = next((name, ids) for name, ids in several.items() if len(ids) > 1)
    hint(name)
    assert f"did you mean {' or '.join(ids)}?" in capsys.readouterr().out


def test_a_damaged_file_is_set_aside_and_never_overwritten(course_folder, capsys):
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
    (folder / "progress-damaged-1.json").unlink()
    (folder / "progress.json").write_text("the last")
    progress()
    aside = [(folder / f"progress-damaged-{n}.json").read_text() for n in range(1, len(damages) + 1)]
    assert aside == ["the last", *damages[1:]]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le"])
def test_progress_saved_by_an_editor_in_its_own_encoding_is_read(encoding, course_folder, capsys):
    check("04.dot", right)
    text = (course_folder / ".course" / "progress.json").read_text()
    for path in (course_folder / ".course" / "progress.json", course_folder / "travelled.json"):
        path.write_text(text, encoding=encoding)
    assert state.read()["04.dot"]["passed"]
    check("04.dot", right)
    assert kept(course_folder)["04.dot"]["attempts"] == 2  # as UTF-8 again
    progress(load=course_folder / "travelled.json")
    assert "has been added to yours" in capsys.readouterr().out
    assert not list(course_folder.glob(".course/progress-damaged*"))


def test_a_file_that_cannot_be_read_just_now_is_not_overwritten(course_folder, monkeypatch, capsys):
    check("00.weighted_sum", lambda w, v: w @ v)
    before = (course_folder / ".course" / "progress.json").read_text()

    def refuse(*args, **options):
        raise PermissionError("in use")

    with monkeypatch.context() as context:
        context.setattr("pathlib.Path.read_bytes", refuse)
        check("04.dot", right)
        progress()
    assert (course_folder / ".course" / "progress.json").read_text() == before
    assert "kept only until this notebook closes" in capsys.readouterr().out


def test_an_unwritable_folder_is_told_once_and_blocks_nothing(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file" / "below"))
    check("02.q1", "b")
    assert check("04.dot", wrong).state == "failed"
    assert capsys.readouterr().out.count("kept only until this notebook closes") == 1
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


def test_a_notebook_shows_a_report_once(shell):
    shell.run_cell("from course_utils import check\nimport torch")
    with capture_output() as captured:
        shell.run_cell("check('04.dot', lambda s, h: h @ s.mT)")
    (shown,) = captured.outputs
    assert "Rows and columns are swapped" in shown.data["text/html"]
    assert shown.data["text/plain"].startswith("✗ 04.dot")


def test_html_uses_the_themes_colour_and_words_for_the_verdict():
    html = judge_answer(catalogue.load("04.dot"), wrong)._repr_html_()
    assert "aria-label='Check of 04.dot: failed'" in html
    assert "color:black" not in html and "background:white" not in html and "<style" not in html
    tables = judge_answer(catalogue.load("04.dot"), lambda s, h: s @ h.mT + 1)._repr_html_()
    assert "expected" in tables and "received" in tables and "≠" in tables


def test_a_report_says_what_helps_then_what_came_then_the_input():
    report = judge_answer(catalogue.load("04.dot"), lambda s, h: s @ h.mT + 1)
    for shown in (report._repr_html_().lower(), str(report).lower()):
        order = [report._finding.text.lower(), "expected", "received", report.case.name.lower(), "state"]
        places = [shown.index(order[0])]
        for words in order[1:]:
            places.append(shown.index(words, places[-1] + 1))
        assert places == sorted(places)
    assert "<details open><summary" in report._repr_html_()


def test_a_large_input_is_folded_and_in_text_told_by_its_shapes():
    report = judge_answer(catalogue.load("10.multi_head_attention"), lambda query, *more: query)
    html = report._repr_html_()
    assert "<details><summary" in html and "(open to see it)</summary>" in html
    assert html.index("received") < html.index("<details>") < html.index("in_weight, shape")
    text = str(report)
    assert re.search(r"^in_weight = a tensor of shape \(\d+, \d+\)$", text, re.MULTILINE)
    assert re.search(r"^query = \[\[\[", text, re.MULTILINE)


def test_side_by_side_shows_rows_with_nan_or_rows_that_differ():
    right = torch.arange(600.0).reshape(50, 12)
    wrong = right.clone()
    wrong[[20, 41], [3, 10]] += 1

    def places(scope, html):
        return [int(n) for n in re.findall(rf"<th scope='{scope}'[^>]*>(\d+)</th>", html)]

    expected, received = side_by_side(right, wrong).split("<div>received")
    assert places("row", expected) == places("row", received) == [0, 1, 2, 3, 4, 5, 20, 41]
    assert places("col", expected) == places("col", received) == [0, 1, 2, 3, 4, 5, 6, 10]
    assert received.count("≠") == 2 and "(8 of 50 rows and 8 of 12 columns)" in received
    wrong[30, 11] = torch.nan
    received = side_by_side(right, wrong).split("<div>received")[1]
    assert places("row", received) == [0, 1, 2, 3, 4, 5, 6, 30] and "≠ nan" in received
    assert "a tensor of shape (50, 12), NaN at [30, 11]" in dict(in_text(right, wrong))["Received"]
    several = right.reshape(5, 10, 12)
    received = side_by_side(several, wrong.reshape(5, 10, 12)).split("<div>received")[1]
    assert "shape (5, 10, 12), shown: [3]</div>" in received and received.count("<table") == 1


def test_importing_the_package_is_cheap():
    loaded = "import sys, course_utils; print([m for m in sys.modules if m.split('.')[0] in ('torch', 'matplotlib', 'IPython')])"
    result = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


# Without an id, and used otherwise


def test_check_finds_the_task_and_the_answer_that_are_meant(shell, capsys):
    run = lambda source: shell.run_cell(source, store_history=True)  # noqa: E731
    run("from course_utils import check, hint, solution")
    run("check()")
    assert "Which task? Write `check(" in capsys.readouterr().out
    run("def dot(state, hidden):\n    return hidden @ state.mT")
    for call in ("check()", "check('04.dot')", "check(dot)", "check(dot, '04.dot')"):
        run(f"_report = {call}")
        assert shell.user_ns["_report"].task == "04.dot" and shell.user_ns["_report"].mistake == "transposed", call
    capsys.readouterr()
    run("hint(); solution()")
    assert "Hint 1 of 3 for 04.dot" in (out := capsys.readouterr().out) and "def dot(state, hidden):" in out
    run("def two_projections(*given):\n    raise NotImplementedError")
    run("check('04.two_projections', two_projections); hint()")  # a check that finds a stub is no attempt
    assert "Hint 2 of 3 for 04.dot" in capsys.readouterr().out
    run("check('04.perceptron')")
    assert "There is no `perceptron` yet: run the cell that defines it" in capsys.readouterr().out


def test_hint_names_the_first_open_task_if_none_was_tried(shell, capsys):
    run = lambda source: shell.run_cell(source, store_history=True)  # noqa: E731
    run("from course_utils import check, hint, solution")
    first, second, *_, last = catalogue.by_lesson()["04"]
    for task in (first, second, last):  # as Run All of a fresh notebook does
        run(f"def {task.answer_name}(*given):\n    raise NotImplementedError")
        run(f"check('{task.id}', {task.answer_name})")
    capsys.readouterr()
    run("hint(); solution()")
    out = capsys.readouterr().out
    assert f'The first open one is {first.id}: write `hint("{first.id}")`' in out and "Hint 1" not in out
    assert f'write `solution("{first.id}")`' in out
    state.change(first.id, lambda entry: entry.update(passed=True), print)
    run("hint()")
    assert f"The first open one is {second.id}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: check("04.dot", right, 0, 10, 3), 'check("02.softmax", softmax)'),
        (lambda: check("04.dot", right, limit=3), 'check("02.softmax", softmax)'),
        *((lambda n=n: check("04.dot", right, seconds=n), "seconds above 0") for n in (0, "5", 1e-9, float("inf"))),
        *((lambda n=n: check("04.dot", right, seed=n), "seconds above 0") for n in (0.5, 10**5000)),
        (lambda: check(4), "A task is named by its id in quotes"),
        (lambda: check(right), "There is no task called `right`"),
        (lambda: hint("04.dot", 2), 'hint("02.softmax")'),
        (lambda: hint(n=2), 'hint("02.softmax")'),
        (lambda: hint(None), "Which task?"),
        (lambda: solution("04.dot", True, 1), 'solution("02.softmax")'),
        (lambda: solution("04.dot", 5), 'solution("02.softmax")'),
        (
            lambda: check("00.q1", 2, 5),
            'a decimal number with a point: `check("00.q1", 2.5)`. In `check("00.q1", 2,5)`',
        ),
        (lambda: check("00.q1", -2, 5, seed=3), 'with a point: `check("00.q1", -2.5)`.'),
        (lambda: predict("02.cold", 0, 5), 'with a point: `predict("02.cold", 0.5)`.'),
        (lambda: reveal("02.cold", 0, 5), 'with a point: `reveal("02.cold", 0.5)`.'),
        (lambda: check("02.q1", "b", 3), 'check("02.q1", "a")'),
        (lambda: progress("04", 3), "progress()"),
        (lambda: predict(), 'predict("02.cold", 0.5)'),
        (lambda: predict("02.warm", 1), 'There is no prediction "02.warm". Lesson 02 has 02.'),
        (
            lambda: predict("warm", 1),
            'There is no prediction "warm" (did you mean "13.warm_up"?). An id begins with its lesson',
        ),
        (lambda: predict("00.q1", 3), '00.q1 is not a prediction: answer it with `check("00.q1", …)`.'),
        (lambda: reveal("02.cold"), "reveal takes a number"),
        (lambda: reveal(3, 3, 3), 'reveal("02.cold", value)'),
        (lambda: check("02.q1", "b", seed="x"), "a whole number as seed"),
        (lambda: check("02.q1", np.arange(3)), "not an object of type ndarray"),
        (lambda: check("02.q2", 10**5000), "not a huge number"),
        (lambda: predict("02.cold", 10**5000), "not a huge number"),
        (lambda: predict("02.cold", object()), "not an object of type object"),
        (lambda: hint("02.q1"), "is a question and has no hints"),
        (lambda: solution("02.q1"), "is a question: try an answer"),
    ],
)
def test_wrong_use_gets_a_sentence(call, says, capsys):
    assert call() is None
    assert says in capsys.readouterr().out


# An edit that never took effect

OLD = "def dot(state, hidden):\n    return state @ hidden.mT"


@pytest.mark.parametrize("cell_ids", [("a", "a"), (None, None)])
@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("def dot(state, hidden):\n    return state @ hidden.mT +", "not your last version of `dot`"),
        ("1 / 0\ndef dot(state, hidden):\n    return state", "not your last version of `dot`"),
        ("def dots(state, hidden):\n    return state", "it now defines `dots`"),
        ("answer = 3", "it now defines nothing by that name"),
        ("def dot(state, hidden):\n    return hidden", ""),
        ("# a remark\n" + OLD, ""),
    ],
)
def test_an_edit_that_did_not_take_effect_is_told(new, says, cell_ids, shell, capsys):
    shell.run_cell("from course_utils import check", store_history=True)
    history.record_cells()  # done by the import, the first time in a process
    shell.run_cell(OLD, store_history=True, cell_id=cell_ids[0])
    shell.run_cell(new, store_history=True, cell_id=cell_ids[1])
    capsys.readouterr()
    shell.run_cell("check('04.dot', dot)", store_history=True, cell_id="b")
    out = capsys.readouterr().out
    told = says if cell_ids[0] or "version" in says else ""  # a renamed one is seen only where cells can be told apart
    assert ("Careful" in out) == bool(told) and told in out, out
    assert "04.dot – the dot-product score" in out


def test_a_stub_whose_answer_did_not_run_is_not_asked_for_one(shell, capsys):
    shell.run_cell("from course_utils import check", store_history=True)
    history.record_cells()
    shell.run_cell("def dot(state, hidden):\n    raise NotImplementedError", store_history=True, cell_id="a")
    shell.run_cell("check('04.dot', dot)", store_history=True, cell_id="b")
    assert "Write your answer where" in capsys.readouterr().out
    shell.run_cell("def dot(state, hidden):\n    return state @", store_history=True, cell_id="a")
    shell.run_cell("check('04.dot', dot)", store_history=True, cell_id="b")
    out = capsys.readouterr().out
    assert (
        "Careful" in out and "The earlier version holds no answer yet." in out and "Write your answer where" not in out
    )


def test_an_older_version_checked_on_purpose_is_no_lost_edit(shell, capsys):
    shell.run_cell("from course_utils import check", store_history=True)
    history.record_cells()
    shell.run_cell(OLD, store_history=True, cell_id="a")
    shell.run_cell("dot_1 = dot", store_history=True, cell_id="b")
    shell.run_cell("def dot(state, hidden):\n    return hidden", store_history=True, cell_id="a")
    shell.run_cell("check('04.dot', dot_1)", store_history=True, cell_id="c")
    assert "Careful" not in capsys.readouterr().out


# Questions


def test_a_question_is_shown_answered_and_counted(course_folder, capsys):
    check("02.q1")
    out = capsys.readouterr().out
    assert all(
        words in out for words in ("02.q1 – a low temperature: not attempted", "a) ", "d) ", "in place of the dots")
    )
    question = catalogue.load("02.q1")
    letters = {text: letter for letter, text in question.options(state.seed())}
    for text, sentence in question.wrong:
        check("02.q1", letters[text])
        assert f"{letters[text]}) is not right. {sentence}" in capsys.readouterr().out
    progress()
    number = sum(len(catalogue.questions_of(lesson)) for lesson in catalogue.lessons())
    assert f"0 of {number} questions right" in capsys.readouterr().out
    check("02.q1", f" {letters[question.right[0]].upper()}) ")
    assert "is right. Dividing by a small temperature" in capsys.readouterr().out
    progress()
    assert f"1 of {number} questions right" in capsys.readouterr().out
    assert kept(course_folder)["02.q1"] == {"state": "passed", "passed": True, "attempts": 4}


def test_a_letter_counts_only_once_the_learners_order_was_shown(course_folder, monkeypatch, capsys):
    question = catalogue.load("02.q1")
    assert question.options(1) != question.options(0)
    monkeypatch.setattr(state, "seed", lambda say: 1)
    letters = {text: letter for letter, text in question.options(1)}
    check("02.q1", "a")
    assert "in an order of their own" in capsys.readouterr().out
    assert kept(course_folder)["02.q1"]["attempts"] == 0
    check("02.q1", letters[question.right[0]])
    assert "is right." in capsys.readouterr().out
    monkeypatch.setattr(state, "seed", lambda say: 0)
    check("03.q1", "a")
    assert "right." in capsys.readouterr().out


@pytest.mark.parametrize("answer", ["e", "", None, ..., 2, "ab", [], "The largest score gets all the weight."])
def test_an_answer_that_is_no_letter_is_no_attempt(answer, course_folder, capsys):
    check("02.q1", answer)
    assert "one of the letters a to d" in capsys.readouterr().out
    assert kept(course_folder)["02.q1"]["attempts"] == 0


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (0.75, "0.75 is right. Its e^z"),
        ("0,75", "0.75 is right"),
        ("3/4", "0.75 is right"),
        ("75%", "0.75 is right"),
        ("3/0", "The answer should be a number"),
        (0.7501, "is right"),
        (0.25, "0.25 is the weight of the second word"),
        (3, "3 is the ratio"),
        (0.6, "0.6 is not right. Compute e^z"),
        (True, "The answer should be a number"),
        ("much", "The answer should be a number"),
        (float("nan"), "The answer should be a number"),
    ],
)
def test_a_number_is_compared_with_a_tolerance(answer, says, capsys):
    check("02.q2", answer)
    assert says in capsys.readouterr().out


@pytest.mark.parametrize("number", catalogue.lessons())
def test_an_option_that_is_copied_whole_is_read_as_its_letter(number):
    for question in catalogue.questions_of(number):
        for letter, text in question.options(7):
            for written in (letter, f"{letter.upper()})", f"{letter}) {text}", text.replace("`", ""), f" {text}\n"):
                assert question.judge(written, 7) == question.judge(letter, 7), written


def test_the_order_of_options_is_lasting_and_differs_by_learner(course_folder, monkeypatch):
    mine = state.seed()
    check("04.dot", right)
    file = course_folder / ".course" / "progress.json"
    assert state.seed() == json.loads(file.read_text())["seed"] == mine
    question = catalogue.load("02.q1")
    orders = {tuple(text for _, text in question.options(seed)) for seed in range(200)}
    assert len(orders) == 24  # every order of four occurs
    before = file.read_bytes()
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    check("04.dot", right)
    assert state.seed() == 0 and file.read_bytes() == before


def test_progress_from_before_there_were_questions_is_read(course_folder):
    (course_folder / ".course").mkdir()
    (course_folder / ".course" / "progress.json").write_text(
        '{"tasks": {"04.dot": {"state": "passed", "passed": true, "attempts": 2}}}'
    )
    seed = state.seed()
    assert kept(course_folder)["04.dot"]["attempts"] == 2 and state.seed() == seed


@pytest.mark.parametrize(
    "question", [q for n in catalogue.lessons() for q in catalogue.questions_of(n)], ids=lambda q: q.id
)
def test_questions_are_complete(question):
    assert question.id[:2] in catalogue.lessons() and question.text.endswith("?") and len(question.title) < 40
    if isinstance(question, catalogue.Question):
        texts = [text for text, _ in (question.right, *question.wrong)]
        assert len(set(texts)) == len(texts) >= 3
    sentences = [m.sentence for m in question.mistakes]
    assert len(set(sentences)) == len(sentences)
    assert all(len(sentence) > 30 and sentence.endswith((".", "?")) for sentence in sentences)


# Predictions


def test_a_prediction_is_compared_and_kept_nowhere(course_folder, capsys):
    for guess, says in (
        (56, "should be a number from 0 to 1, not 56"),
        (-0.1, "not -0.1"),
        (1, "Your guess is 1. Run"),
    ):
        predict("10.one_head", guess)
        assert says in capsys.readouterr().out
    predict("02.cold", ...)
    assert "Put a number in place of the dots" in capsys.readouterr().out
    predict("02.cold", "a lot")
    assert "should be a number, not 'a lot'" in capsys.readouterr().out
    reveal("02.cold", 0.9928)
    assert "Answer: 0.9928. Dividing by 0.4" in capsys.readouterr().out
    predict("02.cold", 0.4)
    assert "Your guess is 0.4. Run the next cell to see what comes out." in capsys.readouterr().out
    reveal("02.cold", 0.9928)
    assert "Answer: 0.9928, and you said 0.4: 0.5928 too low." in capsys.readouterr().out
    predict("02.cold", 0.99)
    reveal("02.cold", 0.9928)
    assert "and you said 0.99: good guess." in capsys.readouterr().out
    predict("02.cold", "zero")
    reveal("02.cold", 0.9928)
    assert "you said" not in capsys.readouterr().out  # the guess before is taken back
    assert not (course_folder / ".course").exists()  # what a cell shows depends on its notebook alone


def test_a_prediction_may_be_a_choice():
    prediction = catalogue.Prediction("02.x", "Which is faster?", "It is one product.", ("dot", "additive"))
    located = catalogue.Prediction("02.x", "Which is it?", "", ("location-based", "dot"))
    assert located.read("Location based") == "location-based" and located.read("location") is None
    fields = catalogue.Prediction("14.x", "In how many of 100 fields?", "")
    assert fields.read("60%") == fields.read(60) == 60 and fields.read("0,6") == 0.6
    assert prediction.read(" Dot ") == "dot" and prediction.read("none") is None and prediction.read(3) is None
    assert prediction.wanted() == "one of `'dot'`, `'additive'`"
    assert prediction.compare("dot", "dot") == "Answer: dot, as you said. It is one product."
    assert prediction.compare("additive", "dot") == "Answer: dot, and you said additive. It is one product."


@pytest.fixture
def started(shell):
    """A shell that has run what `course lab` has every kernel run first."""
    shell.run_cell(STARTUP.read_text(encoding="utf-8"))
    yield shell
    shell.set_custom_exc((), None)


IN_QUOTES, ABOVE = 'A letter is put in quotes: check("00.q2", "b").', "choose Run, Run All Above Selected Cell"


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ('check("00.q2", b)', IN_QUOTES),
        ("report = check('00.q2', answer=b)", IN_QUOTES),
        ('check(\n    "00.q2",\n    b,\n)', IN_QUOTES),
        ('check("00.weighted_sum", weighted_sum)', ABOVE),
        ('check("00.q2", answer)', ABOVE),
        ("print(b)", ABOVE),
    ],
)
def test_a_bare_letter_and_an_unknown_name_are_told_what_to_do(cell, says, started):
    started.run_cell("from course_utils import check")
    with capture_output() as shown:
        started.run_cell(cell)
    assert [words in shown.stdout + shown.stderr for words in (IN_QUOTES, ABOVE)] == [says == IN_QUOTES, says == ABOVE]


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("import subprocess\nprogess()", ("----> 2 progess()", "Did you mean `progress`?")),
        ("x = 1\ny = wieghts * x", ("----> 2 y = wieghts * x", "Did you mean `weights`?")),
        ("mystery(3)", ("----> 1 mystery(3)", "No cell that was run in this kernel defines `mystery`")),
        ("doctor()", ("----> 1 doctor()", "run `from course_utils import doctor`, and then this cell again")),
        ('check("00.q1", A)', ('00.q1 asks for a number, as in check("00.q1", 0.5).',)),
        ('check("00.q2", ones)', ('00.q2 asks for a letter in quotes, as in check("00.q2", "a").',)),
        ('check("00.weighted_sum", mix())', ('without brackets behind its name: check("00.weighted_sum", mix).',)),
        ("mix()", ("missing 1 required positional argument",)),
    ],
)
def test_a_typo_keeps_its_line_and_gets_the_nearest_name(cell, says, started):
    started.run_cell("import torch\nfrom course_utils import check\nweights = torch.ones(3)\ndef mix(parts): pass")
    started.run_cell('check("00.q1")')
    with capture_output() as shown:
        started.run_cell(cell)
    text = re.sub(r"\x1b\[[\d;]*m", "", shown.stdout + shown.stderr)
    assert all(words in text for words in says) and ABOVE not in text


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ('check(00.q1, "a")', '00.q1 is put in straight quotes: check("00.q1", …).'),
        ("x = 1\nhint(02.softmax)", '02.softmax is put in straight quotes: hint("02.softmax").'),
        ("predict(02.cold, 0.5)", 'predict("02.cold", …)'),
        ("solution(12.decoder_layer)", 'solution("12.decoder_layer")'),
        ("progress(03)", 'progress("03")'),
        ("check(“00.q1”, “d”)", 'check("00.q1", …)'),
        ('hint("02.softmax)', 'hint("02.softmax")'),
        ("hint('02.softmax“)", 'hint("02.softmax")'),
        ('check("00.q1", “d”)', 'Python does not know the sign “ here: type " instead.'),
        ("x = 3 − 2", "Python does not know the sign − here: type - instead."),
        ("x = 1\ncourse submit 04", "In a cell, a command begins with an exclamation mark: !course submit 04"),
        ('predict("02.cold", …)', "Python does not know the sign … here: type ... instead."),
    ],
)
def test_forgotten_quotes_and_signs_of_a_text_are_named(cell, says, started):
    with capture_output() as shown:
        started.run_cell(cell)
    assert "SyntaxError: " in shown.stdout + shown.stderr and says in shown.stdout + shown.stderr


@pytest.mark.parametrize(
    "cell",
    [
        "def f(:\n    pass",
        "if 1:\nx = 1",
        "# hint(02.softmax)\nx = = 1",
        'hint("02.softmax"',
        "eval('1 +')",
        "%timeit -n1 -r1 3 +",
        "x = 1_",
        "a ¬ b",
    ],
)
def test_any_other_error_in_syntax_is_shown_as_ever(cell, started):
    def shown():
        with capture_output() as shown:
            started.run_cell(cell)
        return re.sub(r"0x\w+|line \d+ in |In\[\d+\]", "", shown.stdout + shown.stderr)

    with_advice = shown()
    started.set_custom_exc((), None)
    assert with_advice == shown() and "Error" in with_advice


def test_names_of_the_package_are_explained_where_not_imported():
    names = re.search(r"OF_THE_COURSE = (\(.*\))", STARTUP.read_text(encoding="utf-8"))[1]
    assert sorted(ast.literal_eval(names)) == sorted(course_utils.__all__)


def test_exit_in_an_answer_ends_the_answer_and_not_the_kernel(shell, course_folder, monkeypatch):
    ended = []
    monkeypatch.setattr(type(shell), "ask_exit", lambda self: ended.append("kernel"), raising=False)
    shell.run_cell("from course_utils import check\nfrom IPython.core.autocall import ZMQExitAutocall")
    shell.run_cell("exit = ZMQExitAutocall()\nexit.set_ip(get_ipython())")
    shell.run_cell("def dot(state, hidden):\n    exit()", store_history=True)
    report = shell.run_cell('report = check("04.dot", dot)', store_history=True) and shell.user_ns["report"]
    assert report.state == "error" and "calls `exit` or `quit`" in report.message and not ended
    shell.run_cell("exit()")  # outside a check it does what it always does
    assert ended == ["kernel"]


@pytest.mark.parametrize("ends", ["quit()", "sys.exit()"])
def test_an_answer_that_ends_the_kernel_is_told_so(ends, shell, course_folder):
    shell.run_cell("import sys\nfrom course_utils import check\ndef quit(): pass")
    shell.run_cell(f"def dot(state, hidden):\n    {ends}", store_history=True)
    report = shell.run_cell('report = check("04.dot", dot)', store_history=True) and shell.user_ns["report"]
    assert "calls `exit` or `quit`, which ends the whole program" in report.message


def notes_on_failed(shell, code, *names):
    """Return the notes of the reports on answers to tasks of lesson 02, which fail, in this order."""
    shell.run_cell("import torch\nfrom course_utils import check")
    shell.run_cell(code, store_history=True)
    for name in names:
        shell.run_cell(f'report = check("02.{name}", {name})')
        assert shell.user_ns["report"].state == "failed"
        yield shell.user_ns["report"].note


def test_a_failed_answer_that_another_calls_is_named(shell, course_folder):
    code = (
        "def masked_softmax(scores, mask):\n    return scores * mask\n"
        "def several_attentions(words, thetas, mask):\n    return masked_softmax(words @ thetas.T, mask)"
    )
    names = ("several_attentions", "masked_softmax", "several_attentions")
    first, below, again = notes_on_failed(shell, code, *names)
    assert "It calls" not in first + below
    assert again.startswith("It calls your `masked_softmax`, which failed the last check of 02.masked_softmax:")


def test_a_method_of_a_failed_answers_name_is_not_a_call_of_it(shell, course_folder):
    code = (
        "def softmax(scores):\n    return scores.softmax(0)\n"
        "def masked_softmax(scores, mask):\n    return scores.softmax(-1)"
    )
    for note in notes_on_failed(shell, code, "softmax", "softmax", "masked_softmax"):
        assert "It calls" not in note


def test_a_right_answer_that_may_not_work_in_a_class_is_told_so(shell, course_folder, capsys):
    shell.run_cell("import importlib\nfrom course_utils import check")
    shell.run_cell(
        "try:\n    import einops\nexcept ImportError: pass\ndef dot(state, hidden):\n    return state @ hidden.mT",
        store_history=True,
    )
    report = shell.run_cell('report = check("04.dot", dot)', store_history=True) and shell.user_ns["report"]
    assert report.state == "passed" and "imports `einops`" in report.note


def test_a_waiting_check_says_so_and_how_long_the_last_one_took(monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    answer = "from course_utils import check\ndef softmax(scores, temperature=1.0):\n    while True:\n        pass"
    checked = 'check("02.softmax", softmax, seconds=3)'
    cells = [nbformat.v4.new_code_cell(source) for source in (answer, checked, checked)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]
    line = "Still checking your answer. It is stopped after 3 seconds of computing."
    assert shown[1] == f"{line}\r{' ' * len(line)}\r"
    assert re.match(re.escape(line) + r" The last check of this answer took \d+ seconds\.\r *\r$", shown[2])
    stopped = [cells[place].outputs[-1]["data"]["text/plain"] for place in (1, 2)]
    assert all("stopped after 3 seconds" in text and "Printed while" not in text for text in stopped)
