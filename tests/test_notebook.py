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


@pytest.fixture
def printed(capsys):
    """Call something and return what that prints."""

    def of(call, *arguments, **options):
        capsys.readouterr()
        call(*arguments, **options)
        return capsys.readouterr().out

    return of


@pytest.fixture
def run(shell):
    """Run a cell, which has imported all that a notebook calls, as a notebook's kernel does; return what it calls `report`."""
    shell.run_cell("import sys, torch\nfrom course_utils import check, hint, solution")

    def cell(source, cell_id=None):
        shell.run_cell(source, store_history=True, cell_id=cell_id)
        return shell.user_ns.get("report")

    return cell


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


def test_a_stub_that_was_checked_counts_as_no_attempt(course_folder, printed):
    def dot(state, hidden):
        raise NotImplementedError

    assert check("04.dot", dot).state == "not attempted"
    assert kept(course_folder)["04.dot"]["attempts"] == 0
    _, _, third = (printed(hint, "04.dot") for _ in range(3))
    assert 'Once you have tried it, `solution("04.dot")` shows a solution.' in third
    refused = "Try 04.dot first: write an answer and run its check. Then this shows a solution"
    assert refused in printed(solution, "04.dot")


@pytest.mark.parametrize("task_id", ["04.dot", "12.encoder_layer"])
def test_check_given_the_result_of_a_call_asks_for_the_function(task_id):
    report = check(task_id, print(end=""))
    name = catalogue.load(task_id).answer_name
    assert report.state == "not attempted" and report.message.endswith(f'`check("{task_id}", {name})`.')
    assert "check was given None" in report.message and "NotImplementedError" not in report.message


def test_hints_come_one_at_a_time_and_the_report_names_the_next(printed):
    assert "hint 1 of 3" in check("04.dot", wrong).note
    shown = [printed(hint, "04.dot")]
    assert "hint 2 of 3" in check("04.dot", wrong).note
    shown += [printed(hint, "04.dot") for _ in range(4)]
    assert [f"Hint {n} of 3" in "".join(shown) for n in (1, 2, 3, 4)] == [True, True, True, False]
    assert 'That was the last one. `solution("04.dot")` shows a solution.' in "".join(shown)
    assert 'You have seen all hints. `solution("04.dot")` shows a solution.' in check("04.dot", wrong).note
    assert "hints 3" in printed(progress)  # and not 5


def test_solution_is_shown_after_an_attempt_or_by_force(printed):
    assert "def dot(state, hidden)" in printed(solution, "04.dot", force=True)
    check("04.dot", wrong)
    out = printed(solution, "04.dot")
    assert "def dot(state, hidden)" in out and "SOLUTION" not in out


def test_a_solution_is_shown_as_code_without_its_docstring(monkeypatch, printed):
    text = 'def dot(state, hidden):\n    """Return.\n\n    More."""\n    return state @ hidden.mT  # <S>'
    shown, solutions = [], {"04.dot": "# The solutions are handed out from Monday on."}
    monkeypatch.setattr(catalogue, "solutions", lambda: solutions)
    sentence = "The solutions are handed out from Monday on.\n"  # holds its place
    assert printed(solution, "04.dot", force=True) == sentence
    monkeypatch.setattr(notebook, "_show", shown.append)
    solutions["04.dot"] = text
    solution("04.dot", force=True)
    text = "def dot(state, hidden):\n    return state @ hidden.mT  # <S>"
    assert repr(shown[0]) == text and shown[0]._repr_markdown_() == f"```python\n{text}\n```"
    assert shown[0]._repr_html_() is None  # a notebook would show it and not the Markdown


def test_progress_counts_every_task_and_shows_the_lessons_begun(printed):
    check("04.dot", right)
    check("00.weighted_sum", lambda w, v: w)
    out = printed(progress)
    assert out.startswith("1 of ")
    assert "✓ 04.dot" in out and "✗ 00.weighted_sum" in out and "○ 04.perceptron" in out
    assert "02 Weighted sums" not in out
    out = printed(progress, all=True)
    assert "02 Weighted sums: 0 of " in out and "02.softmax" not in out


def test_progress_says_that_a_task_passed_before_fails_now(printed):
    for answer, counts, says in (
        (right, r"1 of \d+ tasks passed,", "✓ 04.dot +passed +"),
        (wrong, r"0 of \d+ tasks passed \(1 more passed before\),", "✗ 04.dot +passed before, fails now +"),
    ):
        check("04.dot", answer)
        out = printed(progress)
        assert re.match(counts, out) and re.search(f"{says}attempts", out)
    state.change("04.dot", lambda entry: entry.update(state="not attempted"), print)  # as an update of its task does
    out = printed(progress)
    assert "○ 04.dot                     passed before, changed since  attempts  2" in out
    for shown in (out, printed(progress, "04")):
        assert "Check 04.dot again: changed since. Next comes 04." in shown


def test_an_async_answer_is_named_without_pythons_warning(printed):
    async def answer(state, hidden):
        return state @ hidden

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert "write `def` alone" in printed(check, "04.dot", answer)
    assert not [each for each in told if each.category is RuntimeWarning]


def test_a_call_without_an_answer_leaves_the_record_alone(course_folder):
    check("04.dot", right)
    before = kept(course_folder)
    for given in ("dot", torch.zeros(2, 2), 3):
        assert check("04.dot", given).state in ("failed", "error")
        assert kept(course_folder) == before


def test_help_of_check_shows_no_address():
    assert "answer=left out" in str(inspect.signature(check)) and " object at 0x" not in str(inspect.signature(check))


def test_columns_of_progress_are_as_wide_as_the_longest_name(printed):
    check("09.restricted_self_attention", wrong)
    rows = [line for line in printed(progress).splitlines() if "  attempts" in line]
    assert len({line.index("  attempts") for line in rows}) == 1


def test_a_hint_is_shown_again_after_a_restart(printed, monkeypatch):
    hint("04.dot")
    hint("04.dot")
    monkeypatch.setattr(notebook, "session", notebook.Session())  # as in a new kernel
    for n in (2, 3):
        assert f"Hint {n} of 3" in printed(hint, "04.dot")


def test_a_check_refuses_the_answer_to_another_task(printed, monkeypatch):
    def softmax(scores):
        return scores.softmax(-1)

    def dot_scores(query, keys):
        raise NotImplementedError

    names, before = {"softmax": softmax, "dot_scores": dot_scores}, dict(state.read())
    monkeypatch.setattr(notebook.history, "namespace", lambda: names)
    refused = '`softmax` is the answer to 02.softmax: for 02.dot_scores, write `check("02.dot_scores", dot_scores)`'
    assert refused in printed(check, "02.dot_scores", softmax)
    assert state.read() == before
    names["dot_scores"] = softmax  # one function under both names
    assert "is the answer to" not in printed(check, "02.dot_scores", softmax)


def test_checking_the_same_answer_again_is_no_further_attempt():
    entry, counted = {}, []
    for cell, reached in zip("aabbb ", 3 * ["failed"] + 3 * ["passed"], strict=True):
        notebook._count_attempt(entry, reached, cell.strip())
        counted.append(entry["attempts"])
    assert counted == [1, 1, 2, 3, 3, 4]


def test_progress_keeps_a_wrong_reply_to_a_question_shown_again(printed):
    state.change("04.q1", lambda entry: notebook._count_attempt(entry, "failed"), print)
    check("04.q1", ...)
    out = printed(progress)
    assert "✗ 04.q1" in out and "changed since" not in out


def reach(reached, *tasks):
    for task in tasks:
        state.change(task.id, lambda entry: notebook._count_attempt(entry, reached), print)


def test_progress_says_what_comes_next(printed):
    first, following = catalogue.lessons()["00"], catalogue.asked("04", questions=True)[1]
    said_first = f"Next comes lesson 00, {first.title}: {first.question} `progress(all=True)` shows every lesson."
    assert printed(progress).splitlines()[2:] == [said_first]
    hint("04.dot")
    assert printed(progress).splitlines()[-1].startswith("Next comes 04.dot, ")
    check("04.dot", right)
    assert printed(progress).splitlines()[-1].startswith(f"Next comes {following.id}, {following.title}. ")
    last = list(catalogue.by_lesson())[-1]
    reach("passed", *catalogue.asked(last, questions=True))
    out = printed(progress).splitlines()
    assert out[-1].startswith("You have finished the last lesson. ")
    assert [line for line in out if line.startswith(f"{last} ")] and not [line for line in out if f" {last}." in line]


def test_progress_of_one_lesson_ends_with_its_next_task(printed):
    hint(catalogue.by_lesson()["05"][0].id)
    first, second, *_ = tasks = catalogue.asked("04", questions=True)
    assert printed(progress, "04").splitlines()[-1].startswith(f"Next comes {first.id}, ")
    reach("passed", *tasks)
    assert printed(progress, "04").splitlines()[-1].startswith("Next comes 05.")  # nothing is left in the lesson
    reach("failed", second)  # passed before, fails now
    assert printed(progress, "04").splitlines()[-1].startswith(f"Next comes {second.id}, ")


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
def test_progress_shows_one_lesson_alone(lesson, printed):
    check("04.dot", right)
    check("02.q1", "a")
    out = printed(progress, lesson)
    assert "04 Alignment scores: 1 of " in out and "02.q1" not in out
    assert "There is no lesson '99'" in printed(progress, "99")


def test_a_question_called_wrongly_is_shown_with_its_own_id(printed):
    assert 'Use it like this: `check("00.q3", …)`' in printed(check, "00.q3", "a", "b")


def test_an_id_of_several_lessons_is_completed_with_each_of_them(printed):
    several = {}
    for task in (task for of_lesson in catalogue.by_lesson().values() for task in of_lesson):
        several.setdefault(task.id[3:], []).append(f'"{task.id}"')
    name, ids = next((name, ids) for name, ids in several.items() if len(ids) > 1)
    assert f"did you mean {' or '.join(ids)}?" in printed(hint, name)


@pytest.mark.parametrize("call", [lambda i: check(i, right), hint, solution, notebook.play])
def test_an_unknown_task_gets_a_sentence_that_completes_its_id(call, monkeypatch, printed):
    monkeypatch.setattr(history, "in_notebook", lambda: True)
    for unknown, says in (
        *((unknown, "") for unknown in ("04.dott", "99.x", "", "02.q9")),
        *((f"{before}two_hops_by_hand", 'did you mean "16.two_hops_by_hand"?') for before in ("", "15.", " 16.")),
        ("00.q9", ". Lesson 00 has "),
        ("0.q1", '(did you mean "00.q1"?)'),  # without its nought
        ("5.q3", 'did you mean "05.q3"?'),
        ("2.softmax", 'did you mean "02.softmax"?'),
    ):
        out = printed(call, unknown)
        assert f'There is no task "{unknown}"' in out and says in out
        assert ("16.two_hops_by_hand" in out) == ("two_hops" in unknown)


def test_a_demonstration_is_not_kept_and_hides_nothing_that_is(course_folder, printed):
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
    assert printed(progress).startswith("1 of ")


def test_a_damaged_file_is_set_aside_and_never_overwritten(course_folder, printed):
    folder = course_folder / ".course"
    folder.mkdir()
    entries = ("1", '{"state": "done"}', '{"state": ["x"]}', '{"hints": -10}', '{"passed": 1}', '{"attempts": "2"}')
    damages = ["{half", "[]", '{"tasks": 3}', "\x00", *(f'{{"tasks": {{"04.dot": {entry}}}}}' for entry in entries)]
    for n, damage in enumerate(damages, 1):
        (folder / "progress.json").write_text(damage)
        assert f"kept as progress-damaged-{n}.json" in printed(check, "04.dot", right)
        assert (folder / f"progress-damaged-{n}.json").read_text() == damage
        assert kept(course_folder)["04.dot"]["passed"]
    (folder / "progress-damaged-1.json").unlink()
    (folder / "progress.json").write_text("the last")
    progress()
    aside = [(folder / f"progress-damaged-{n}.json").read_text() for n in range(1, len(damages) + 1)]
    assert aside == ["the last", *damages[1:]]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le"])
def test_progress_saved_by_an_editor_in_its_own_encoding_is_read(encoding, course_folder, printed):
    check("04.dot", right)
    file, travelled = course_folder / ".course" / "progress.json", course_folder / "travelled.json"
    for path in (travelled, file):
        path.write_text(file.read_text(), encoding=encoding)
    assert state.read()["04.dot"]["passed"]
    check("04.dot", right)
    assert kept(course_folder)["04.dot"]["attempts"] == 2  # as UTF-8 again
    assert "has been added to yours" in printed(progress, load=travelled)
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


def test_an_unwritable_folder_is_told_once_and_blocks_nothing(tmp_path, monkeypatch, printed):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file" / "below"))
    out = printed(check, "02.q1", "b") + printed(check, "04.dot", wrong)
    assert out.count("kept only until this notebook closes") == 1 and "✗ 04.dot" in out
    out = printed(check, "04.dot", right) + printed(progress)
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


def test_a_notebook_shows_a_report_once(run):
    with capture_output() as captured:
        run("check('04.dot', lambda s, h: h @ s.mT)")
    (shown,) = captured.outputs
    assert "Rows and columns are swapped" in shown.data["text/html"]
    assert shown.data["text/plain"].startswith("✗ 04.dot")


def test_html_uses_the_themes_colour_and_words_for_the_verdict():
    html = judge_answer(catalogue.load("04.dot"), wrong)._repr_html_()
    assert "aria-label='Check of 04.dot: failed'" in html
    assert "color:black" not in html and "background:white" not in html and "<style" not in html
    tables = judge_answer(catalogue.load("04.dot"), lambda s, h: s @ h.mT + 1)._repr_html_()
    assert "expected" in tables and "received" in tables and "≠" in tables


def test_the_columns_of_expected_and_received_line_up():
    html = side_by_side(torch.tensor([[0.3775, 0.6225]]), torch.tensor([[1.0, 1.0]]))
    assert re.findall(r"min-width:(\d+)ch", html) == ["8"] * 4  # 0.3775, with room for the mark
    assert "min-width" not in side_by_side(torch.tensor([[0.5]]), torch.tensor([[0.5, 0.5]]))


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


def test_four_axes_are_drawn_matrix_by_matrix_with_the_shape():
    right = torch.arange(48.0).reshape(2, 3, 2, 4)
    wrong = right.clone()
    wrong[1, 2, 0, 3] += 1
    received = side_by_side(right, wrong).split("<div>received")[1]
    assert "shape (2, 3, 2, 4), shown: [1, 2]</div><div>[1, 2]</div><table" in received
    assert received.count("<table") == received.count("≠") == 1 and "≠ 44" in received
    text = dict(in_text(right, wrong))["Received"]
    assert (
        text.startswith("a tensor of shape (2, 3, 2, 4):\n  [0, 0] [[0, 1, 2, 3], [4")
        and "\n  [1, 2] [[40, 41, 42, 44]" in text
    )


def test_importing_the_package_is_cheap():
    loaded = "import sys, course_utils; print([m for m in sys.modules if m.split('.')[0] in ('torch', 'matplotlib', 'IPython')])"
    result = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


# Without an id, and used otherwise


def test_check_finds_the_task_and_the_answer_that_are_meant(run, printed):
    assert "Which task? Write `check(" in printed(run, "check()")
    run("def dot(state, hidden):\n    return hidden @ state.mT")
    for call in ("check()", "check('04.dot')", "check(dot)", "check(dot, '04.dot')"):
        report = run(f"report = {call}")
        assert report.task == "04.dot" and report.mistake == "transposed", call
    out = printed(run, "hint(); solution()")
    assert "Hint 1 of 3 for 04.dot" in out and "def dot(state, hidden):" in out
    run("def two_projections(*given):\n    raise NotImplementedError")
    found = printed(run, "check('04.two_projections', two_projections); hint()")
    assert "Hint 2 of 3 for 04.dot" in found  # a check that finds a stub is no attempt
    assert "There is no `perceptron` yet: run the cell that defines it" in printed(run, "check('04.perceptron')")


def test_hint_names_the_first_open_task_if_none_was_tried(run, printed):
    first, second, *_, last = catalogue.by_lesson()["04"]
    for task in (first, second, last):  # as Run All of a fresh notebook does
        run(f"def {task.answer_name}(*given):\n    raise NotImplementedError")
        run(f"check('{task.id}', {task.answer_name})")
    out = printed(run, "hint(); solution()")
    assert f'The first open one is {first.id}: write `hint("{first.id}")`' in out and "Hint 1" not in out
    assert f'write `solution("{first.id}")`' in out
    state.change(first.id, lambda entry: entry.update(passed=True), print)
    assert f"The first open one is {second.id}" in printed(run, "hint()")


SECONDS, LIKE_THIS = "seconds above 0", 'check("02.softmax", softmax)'


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: check("04.dot", right, 0, 10, 3), LIKE_THIS),
        (lambda: check("04.dot", right, limit=3), LIKE_THIS),
        *((lambda n=n: check("04.dot", right, seconds=n), SECONDS) for n in (0, "5", 1e-9, float("inf"))),
        *((lambda n=n: check("04.dot", right, seed=n), SECONDS) for n in (0.5, 10**5000)),
        (lambda: check(4), "A task is named by its id in quotes"),
        (lambda: check(right), "There is no task called `right`"),
        (lambda: hint("04.dot", 2), 'hint("02.softmax")'),
        (lambda: hint(n=2), 'hint("02.softmax")'),
        (lambda: hint(None), "Which task?"),
        (lambda: solution("04.dot", True, 1), 'solution("02.softmax")'),
        (lambda: solution("04.dot", 5), 'solution("02.softmax")'),
        (lambda: check("00.q1", 2, 5), 'number with a point: `check("00.q1", 2.5)`. In `check("00.q1", 2,5)`'),
        (lambda: check("00.q1", -2, 5, seed=3), 'with a point: `check("00.q1", -2.5)`.'),
        (lambda: predict("02.cold", 0, 5), 'with a point: `predict("02.cold", 0.5)`.'),
        (lambda: reveal("02.cold", 0, 5), 'with a point: `reveal("02.cold", 0.5)`.'),
        (lambda: check("02.q1", "b", 3), 'check("02.q1", …)'),
        (lambda: progress("04", 3), "progress()"),
        (lambda: predict(), 'predict("02.cold", 0.5)'),
        (lambda: predict("02.warm", 1), 'There is no prediction "02.warm". Lesson 02 has 02.'),
        (lambda: predict("warm", 1), '"warm" (did you mean "13.warm_up"?). An id begins with its lesson'),
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


@pytest.fixture
def recorded(run):
    """Run cells where the history is kept, which the import begins the first time in a process."""
    history.record_cells()
    return run


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
def test_an_edit_that_did_not_take_effect_is_told(new, says, cell_ids, recorded, printed):
    recorded(OLD, cell_ids[0])
    recorded(new, cell_ids[1])
    out = printed(recorded, "check('04.dot', dot)", "b")
    told = says if cell_ids[0] or "version" in says else ""  # a renamed one is seen only where cells can be told apart
    assert ("Careful" in out) == bool(told) and told in out, out
    assert "04.dot – the dot-product score" in out


def test_a_stub_whose_answer_did_not_run_is_not_asked_for_one(recorded, printed):
    recorded("def dot(state, hidden):\n    raise NotImplementedError", "a")
    assert "Write your answer where" in printed(recorded, "check('04.dot', dot)", "b")
    recorded("def dot(state, hidden):\n    return state @", "a")
    out = printed(recorded, "check('04.dot', dot)", "b")
    assert "Careful" in out and "The earlier version holds no answer yet." in out
    assert "Write your answer where" not in out


def test_an_older_version_checked_on_purpose_is_no_lost_edit(recorded, printed):
    recorded(OLD, "a")
    recorded("dot_1 = dot", "b")
    recorded("def dot(state, hidden):\n    return hidden", "a")
    assert "Careful" not in printed(recorded, "check('04.dot', dot_1)", "c")


# Questions


def test_a_question_is_shown_answered_and_counted(course_folder, printed):
    out = printed(check, "02.q1")
    for words in ("02.q1 – a low temperature: not attempted", "a) ", "d) ", "Replace the dots with"):
        assert words in out
    question = catalogue.load("02.q1")
    letters = {text: letter for letter, text in question.options(state.seed())}
    for text, sentence in question.wrong:
        assert f"{letters[text]}) is not right. {sentence}" in printed(check, "02.q1", letters[text])
    number = sum(len(catalogue.questions_of(lesson)) for lesson in catalogue.lessons())
    assert f"0 of {number} questions right" in printed(progress)
    reply = printed(check, "02.q1", f" {letters[question.right[0]].upper()}) ")
    assert "is right. Dividing by a small temperature" in reply
    assert f"1 of {number} questions right" in printed(progress)
    assert kept(course_folder)["02.q1"] == {"state": "passed", "passed": True, "attempts": 4}


def test_a_letter_counts_only_once_the_learners_order_was_shown(course_folder, monkeypatch, printed):
    question = catalogue.load("02.q1")
    assert question.options(1) != question.options(0)
    monkeypatch.setattr(state, "seed", lambda say: 1)
    letters = {text: letter for letter, text in question.options(1)}
    assert "in an order of their own" in printed(check, "02.q1", "a")
    assert kept(course_folder)["02.q1"]["attempts"] == 0
    assert "is right." in printed(check, "02.q1", letters[question.right[0]])
    monkeypatch.setattr(state, "seed", lambda say: 0)
    assert "right." in printed(check, "03.q1", "a")


@pytest.mark.parametrize("answer", ["e", "", None, ..., 2, "ab", [], "The largest score gets all the weight."])
def test_an_answer_that_is_no_letter_is_no_attempt(answer, course_folder, printed):
    assert "one of the letters a to d" in printed(check, "02.q1", answer)
    assert kept(course_folder)["02.q1"]["attempts"] == 0


@pytest.mark.parametrize("answer", [None, "", "much", []], ids=repr)
def test_a_question_asks_for_a_reply_without_giving_it_away(answer):
    for question in (question for lesson in catalogue.lessons() for question in catalogue.questions_of(lesson)):
        said = question.judge(answer, 0).message
        for literal in re.findall(r'check\("\d\d\.q\d", (.+?)\)`', said):
            given = ast.literal_eval(literal)
            assert all(question.judge(given, seed).state != "passed" for seed in range(10)), (question.id, said)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (0.75, "0.75 is right. Its e^z"),
        ("0,75", "0.75 is right"),
        ("3/4", "0.75 is right"),
        ("75%", "0.75 is right"),
        (0.7501, "is right"),
        (0.25, "0.25 is the weight of the second word"),
        (3, "3 is the ratio"),
        (0.6, "0.6 is not right. Compute e^z"),
        *((answer, "The answer should be a number") for answer in ("3/0", True, "much", float("nan"))),
    ],
)
def test_a_number_is_compared_with_a_tolerance(answer, says, printed):
    assert says in printed(check, "02.q2", answer)


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
    before = {"tasks": {"04.dot": {"state": "passed", "passed": True, "attempts": 2}}}
    (course_folder / ".course" / "progress.json").write_text(json.dumps(before))
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


def test_a_prediction_is_compared_and_kept_nowhere(course_folder, printed):
    for name, guess, says in (
        ("10.one_head", 56, "should be a number from 0 to 1, not 56"),
        ("10.one_head", -0.1, "not -0.1"),
        ("10.one_head", 1, "Your guess is 1. Run"),
        ("02.cold", ..., "Replace the dots with a number"),
        ("02.cold", "a lot", "should be a number, not 'a lot'"),
    ):
        assert says in printed(predict, name, guess)
    assert "Answer: 0.9928. Dividing by 0.4" in printed(reveal, "02.cold", 0.9928)
    assert "Your guess is 0.4. Run the next cell to see what comes out." in printed(predict, "02.cold", 0.4)
    assert "Answer: 0.9928, and you said 0.4: 0.5928 too low." in printed(reveal, "02.cold", 0.9928)
    predict("02.cold", 0.99)
    assert "and you said 0.99: good guess." in printed(reveal, "02.cold", 0.9928)
    predict("02.cold", "zero")
    assert "you said" not in printed(reveal, "02.cold", 0.9928)  # the guess before is taken back
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
    """Show what a cell writes, without colours, in a shell that has run what `course lab` has every kernel run first."""
    shell.run_cell(STARTUP.read_text(encoding="utf-8"))
    shell.run_cell("from course_utils import check")

    def shown_by(cell):
        with capture_output() as shown:
            shell.run_cell(cell)
        return re.sub(r"\x1b\[[\d;]*m", "", shown.stdout + shown.stderr)

    yield shown_by
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
    shown = started(cell)
    assert [words in shown for words in (IN_QUOTES, ABOVE)] == [says == IN_QUOTES, says == ABOVE]


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("import subprocess\nprogess()", ("----> 2 progess()", "Did you mean `progress`?")),
        ("x = 1\ny = wieghts * x", ("----> 2 y = wieghts * x", "Did you mean `weights`?")),
        ("mystery(3)", ("----> 1 mystery(3)", "No cell that was run in this kernel defines `mystery`")),
        ("doctor()", ("----> 1 doctor()", "run `from course_utils import doctor`, and then this cell again")),
        ('check("00.q1", A)', ('00.q1 asks for a number, as in check("00.q1", 0.5).',)),
        ('check("00.q2", ones)', ('00.q2 asks for a letter in quotes, as in check("00.q2", "…").',)),
        ('check("00.weighted_sum", mix())', ('without brackets behind its name: check("00.weighted_sum", mix).',)),
        ("mix()", ("missing 1 required positional argument",)),
    ],
)
def test_a_typo_keeps_its_line_and_gets_the_nearest_name(cell, says, started):
    started('import torch\nweights = torch.ones(3)\ndef mix(parts): pass\ncheck("00.q1")')
    text = started(cell)
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
    shown = started(cell)
    assert "SyntaxError: " in shown and says in shown


OTHER_ERRORS = (
    *("def f(:\n    pass", "if 1:\nx = 1", "# hint(02.softmax)\nx = = 1", 'hint("02.softmax"', "eval('1 +')"),
    *("%timeit -n1 -r1 3 +", "x = 1_", "a ¬ b"),
)


@pytest.mark.parametrize("cell", OTHER_ERRORS)
def test_any_other_error_in_syntax_is_shown_as_ever(cell, started, shell):
    def shown():
        return re.sub(r"0x\w+|line \d+ in |In\[\d+\]", "", started(cell))

    with_advice = shown()
    shell.set_custom_exc((), None)
    assert with_advice == shown() and "Error" in with_advice


def test_names_of_the_package_are_explained_where_not_imported():
    names = re.search(r"OF_THE_COURSE = (\(.*\))", STARTUP.read_text(encoding="utf-8"))[1]
    assert sorted(ast.literal_eval(names)) == sorted(course_utils.__all__)


def test_exit_in_an_answer_ends_the_answer_and_not_the_kernel(shell, run, monkeypatch):
    ended = []
    monkeypatch.setattr(type(shell), "ask_exit", lambda self: ended.append("kernel"), raising=False)
    run("from IPython.core.autocall import ZMQExitAutocall\nexit = ZMQExitAutocall()\nexit.set_ip(get_ipython())")
    run("def dot(state, hidden):\n    exit()")
    report = run('report = check("04.dot", dot)')
    assert report.state == "error" and "calls `exit` or `quit`" in report.message and not ended
    run("exit()")  # outside a check it does what it always does
    assert ended == ["kernel"]


@pytest.mark.parametrize("ends", ["quit()", "sys.exit()"])
def test_an_answer_that_ends_the_kernel_is_told_so(ends, run):
    run(f"def quit(): pass\ndef dot(state, hidden):\n    {ends}")
    report = run('report = check("04.dot", dot)')
    assert "calls `exit` or `quit`, which ends the whole program" in report.message


def notes_on_failed(run, code, *names):
    """Return the notes of the reports on answers to tasks of lesson 02, which fail, in this order."""
    run(code)
    for name in names:
        report = run(f'report = check("02.{name}", {name})')
        assert report.state == "failed"
        yield report.note


def test_a_failed_answer_that_another_calls_is_named(run):
    code = (
        "def masked_softmax(scores, mask):\n    return scores * mask\n"
        "def several_attentions(words, thetas, mask):\n    return masked_softmax(words @ thetas.T, mask)"
    )
    names = ("several_attentions", "masked_softmax", "several_attentions")
    first, below, again = notes_on_failed(run, code, *names)
    assert "It calls" not in first + below
    assert again.startswith("It calls your `masked_softmax`, which failed the last check of 02.masked_softmax:")


def test_a_method_of_a_failed_answers_name_is_not_a_call_of_it(run):
    code = (
        "def softmax(scores):\n    return scores.softmax(0)\n"
        "def masked_softmax(scores, mask):\n    return scores.softmax(-1)"
    )
    for note in notes_on_failed(run, code, "softmax", "softmax", "masked_softmax"):
        assert "It calls" not in note


def test_a_right_answer_that_may_not_work_in_a_class_is_told_so(run):
    run(f"try:\n    import einops\nexcept ImportError: pass\n{OLD}")
    report = run('report = check("04.dot", dot)')
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
