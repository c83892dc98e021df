"""What a task's Markdown file may say: hints, mistakes as changes of the solution, mistakes of a shared file; and what is refused."""

import io
import os
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest
import torch
from repository import ROOT
from tasks import TASKS, assert_mistakes_can_be_made

from course_lessons.shared.candidate_tests import MistakenTests
from course_utils.base.errors import CourseError
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.task import Task
from course_utils.checks.task_text import read_task_text
from course_utils.grading.handing_out.package import package

TEXT = """What is above the first heading is for authors.

## Hints

The first, on
two lines.

The second.

## halved

You return half of it.

    _x -> _x / 2
    mask := ~mask

## by_hand

A function of the module.
"""
SHARED = """## unmasked

The {others} are not masked.

    {fill} -> scores

## level

All {others} are alike.

    scores -> 0 * scores
"""


@pytest.fixture
def read(tmp_path):
    (tmp_path / "masks.md").write_text(SHARED, encoding="utf-8")

    def read(text):
        (tmp_path / "task.md").write_text(text, encoding="utf-8")
        return read_task_text(tmp_path / "task.md", tmp_path)

    return read


def test_a_file_holds_hints_and_mistakes_with_their_changes(read):
    told = read(TEXT)
    assert told.hints == ("The first, on two lines.", "The second.") and told.solution == ""
    assert [each.heading for each in told.mistakes] == ["halved", "by_hand"]
    assert told.mistakes[0].changes == ("_x -> _x / 2", "mask := ~mask") and not told.mistakes[1].changes
    assert told.mistakes[1].paragraphs == ("A function of the module.",)


def test_a_shared_mistake_is_filled_in_with_the_words_of_a_task(read):
    told = read("## from masks: level, unmasked\n\n    others = keys\n    fill = scores.masked_fill(m, 0)\n")
    assert [each.heading for each in told.mistakes] == ["level", "unmasked"]
    assert told.mistakes[1].paragraphs == ("The keys are not masked.",)
    assert told.mistakes[1].changes == ("scores.masked_fill(m, 0) -> scores",)


def test_an_empty_word_leaves_a_change_out(read, tmp_path):
    (tmp_path / "fills.md").write_text("## level\n\nAlike.\n\n    a -> b\n    {zeros}\n", encoding="utf-8")
    assert read("## from fills: level\n\n    zeros =\n").mistakes[0].changes == ("a -> b",)


def test_a_written_out_solution_keeps_its_indentation(read):
    assert read("## Solution\n\n    def f(x):\n        return x\n").solution == "def f(x):\n    return x"


def test_steps_get_words_by_variable_or_expression(read):
    assert read("## Steps\n\n    e = the exponentials\n    x == _ = the same\n").steps == {
        "e": "the exponentials",
        "x == _": "the same",
    }
    assert read("").steps is None and read("## Steps\n").steps == {}


def test_words_for_no_step_name_the_file(declare):
    with pytest.raises(CourseError, match=r"dot.md, `## Steps`: no step of the solution matches `state \* _`."):
        print(declare(INVITED + "## Steps\n\n    state * _ = the product\n").steps_function)


@pytest.mark.parametrize(
    "text, said",
    [
        ("## from masks: levle\n\n    others = keys\n", "line 1: masks.md has no mistake levle: unmasked, level."),
        (
            "## from maks: level\n",
            'line 1: there is no shared file maks.md (did you mean "masks"?). The files: masks, task.',
        ),
        ("\n## from masks: level\n", "line 2: level needs the word others: `others = …`."),
        ("## a\n\nOnce.\n\n## a\n\nTwice.\n", "line 5: there are two mistakes named a."),
        ("## a\n\n    x -> y\n", "line 1: the mistake a has no sentence for a learner."),
        ("## Step\n\n    x = y\n", 'the mistake Step (did you mean "Steps"?) has no sentence for a learner.'),
        ("## Steps\n\n## Steps\n", "line 3: there are two sections `## Steps`."),
        ("## Steps\n\n  x = the scores\n", "below line 1: indent `x = the scores` by four spaces."),
        (
            "## Steps\n\n    x = The scores.\n",
            "`x = The scores.`: write words that fit into a sentence, such as `the scores`.",
        ),
        (
            "## Steps\n\n    x @ = the scores\n",
            "below line 1: `x @ = the scores` is not `variable or expression = words`.",
        ),
        ("## Steps\n\n    x = a\n    x = b\n", "below line 1: `x = b` repeats another line."),
        ("## Steps\n\n    x = a\n    y = a\n", "below line 1: `y = a` repeats another line."),
        ("## Steps\n\n    x\n", "below line 1: `x` is not `variable or expression = words`."),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(read, text, said):
    with pytest.raises(CourseError, match="task.md") as refused:
        read(text)
    assert said in str(refused.value)


def test_two_changes_of_a_solution_are_made_at_once():
    task = TASKS["03.attention"]
    named = {mistake.name: mistake for mistake in task.mistakes}
    both = task.both(named["scaled"], named["keys_summed"])
    query, key, value = torch.randn(1, 2, 4), torch.randn(1, 3, 4), torch.randn(1, 3, 4)
    weights = (query @ key.mT / 2).softmax(-1)
    assert torch.allclose(both(query, key, value)[0], weights @ key)
    assert task.both(named["softmax_over_queries"], named["softmax_over_batch"]) is None  # both change one place
    assert "Two mistakes together" in judge_answer(task, both).message


@pytest.fixture
def declare(tmp_path, monkeypatch):
    module = types.ModuleType("dot_in_a_test")
    (tmp_path / "lesson_04_scores/tasks").mkdir(parents=True)
    module.__file__ = str(tmp_path / "lesson_04_scores/tasks/dot.py")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def declare(text):
        Path(module.__file__).with_suffix(".md").write_text(text, encoding="utf-8")
        sizes = {"difficulty": 1, "importance": 1, "minutes": 5}
        return Task(module.__name__, "a title", ("state B×T×D", "hidden B×S×D"), "scores B×T×S", **sizes)

    return declare


@pytest.mark.parametrize(
    "change, said",
    [
        ("    hidden.mT -> hidde.mT", ': `hidde` is not defined (did you mean "hidden"?).'),
        ("    state @ _x -> _y", ": `_y` is not defined."),
        ("    state * _ -> state", ": nothing in the solution matches `state * _`."),
        (
            "  hidden.mT -> hidden",
            " has neither a change nor a function: indent its change by four spaces, or register ",
        ),
    ],
)
def test_a_change_that_cannot_be_made_is_refused_with_its_place(declare, change, said):
    task = declare(f"# 04.dot\n\n## doubled\n\nTwice.\n\n{change}\n")
    with pytest.raises((CourseError, AssertionError)) as refused:
        assert_mistakes_can_be_made(task)
    assert f"dot.md, line 3, 04.dot, doubled{said}" in str(refused.value)


def test_a_change_may_use_imports_and_names_of_the_tasks_module(declare):
    task = declare("## doubled\n\nTwice.\n\n    state @ _x -> twice(torch.stack([y for y in state]) @ _x)\n")
    task.home.twice = lambda x: x + x
    assert_mistakes_can_be_made(task)


@pytest.mark.parametrize(
    "registered", ["@task.mistake()\ndef doubled(state, hidden): ...", "task.mistake('doubled')(lambda: 0)"]
)
def test_a_function_without_a_section_is_refused_with_its_place(declare, registered):
    task = declare("## halved\n\nHalf.\n")
    module = task.home.__file__
    with pytest.raises(CourseError) as refused:
        exec(compile(f"\n{registered}\n", module, "exec"), {"task": task})
    assert f"dot.py, line 2, 04.dot: {module[:-2]}md has no section `## doubled`, with what " in str(refused.value)


def test_a_module_without_a_markdown_file_beside_it_is_refused(declare):
    declare("").text.unlink()
    with pytest.raises(CourseError, match="dot.md is missing: it has the hints and mistakes of the task beside it."):
        Task("dot_in_a_test", "", (), "", difficulty=1, importance=1, minutes=5)


INVITED = "".join(f"## {name}\n\nAlways.\n\n" for name in ("always_true", "always_false", "turned_round"))


def test_checks_left_out_together_are_told_together(declare):
    text = "## first\n\nOnce.\n\n## without_a\n\nones, or twos,\n\nTry 1.\n\n## without_b\n\nthrees\n\nTry 3.\n\n## last\n\nTwice.\n"
    task = declare(INVITED + text)
    MistakenTests(task, lambda answer, **changes: changes).without({"a": ("x", 1), "b": ("y", 2)}, 2)
    assert [mistake.name for mistake in task.mistakes[3:]] == ["first", "without_a", "without_b", "without_a_b", "last"]
    assert task.sentence("without_a") == "Your test passes ones, or twos. Try 1."
    assert task.sentence("without_a_b") == "Your test passes ones, or twos, and threes. Try 1. Try 3."
    assert task.wrong("without_a_b")("an answer") == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    "text", ["", "## without_a\n\nones\n\nTry 1.\n", "## without_a\n\nOnes.\n\n## without_b\n\nthrees\n\nTry 3.\n"]
)
def test_checks_to_leave_out_need_sections_of_two_paragraphs(declare, text):
    with pytest.raises(CourseError, match="dot.md: 04.dot needs these sections, .*: `## without_a`, `## without_b`."):
        MistakenTests(declare(INVITED + text), print).without(("a", "b"), 2, dict.fromkeys)


WRONG = """
import torch
from course_utils.checks import catalogue
from course_utils.checks.judge_answer import judge_answer

def attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = scores.softmax(-1) if mask is None else scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()
    return weights @ value, weights

print(judge_answer(catalogue.load("03.attention"), attention).mistake)
print(judge_answer(catalogue.load("04.dot"), lambda state, hidden: state * hidden.mT).relation)
"""


def test_a_copy_without_solutions_explains_all_the_same(tmp_path):
    content = package(ROOT, "Later.")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    there = {**os.environ, "PYTHONPATH": str(tmp_path / "attention-course")}
    done = subprocess.run([sys.executable, "-c", WRONG], cwd=tmp_path, env=there, capture_output=True, text=True)
    mistake, relation = done.stdout.splitlines()
    assert mistake == "scaled" and "with `*` instead of `@` in the scores" in relation, done.stdout + done.stderr
