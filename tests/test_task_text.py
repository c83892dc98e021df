"""What a task's Markdown file may say: hints, mistakes as changes of the solution, mistakes of a shared file; and what is refused."""

import io
import os
import subprocess
import sys
import zipfile

import pytest
import torch
from repository import ROOT
from tasks import TASKS

from course_utils.base.errors import CourseError
from course_utils.checks.answer import judge_answer
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


@pytest.mark.parametrize(
    "text, said",
    [
        ("## from masks: levle\n\n    others = keys\n", "line 1: masks.md has no mistake levle: unmasked, level."),
        ("\n## from masks: level\n", "line 2: level needs the word others: `others = …`."),
        ("## a\n\nOnce.\n\n## a\n\nTwice.\n", "line 5: there are two mistakes named a."),
        ("## a\n\n    x -> y\n", "line 1: what is a learner told who makes this mistake?"),
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


def test_every_mistake_of_a_text_has_a_change_or_a_function():
    for task in TASKS.values():
        missing = [mistake.name for mistake in task.mistakes if mistake.function is None]
        assert not missing, f"{task.id}: {', '.join(missing)} has neither a change nor a function"


WRONG = """
import torch
from course_utils.checks import catalogue
from course_utils.checks.answer import judge_answer

def attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = scores.softmax(-1) if mask is None else scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()
    return weights @ value, weights

print(judge_answer(catalogue.load("03.attention"), attention).mistake)
"""


def test_a_copy_without_solutions_names_mistakes_all_the_same(tmp_path):
    content = package(ROOT, "Later.")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    there = {**os.environ, "PYTHONPATH": str(tmp_path / "attention-course")}
    done = subprocess.run([sys.executable, "-c", WRONG], cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.stdout.strip() == "scaled", done.stdout + done.stderr
