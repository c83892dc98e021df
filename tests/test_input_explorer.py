"""After a failed check: the input becomes text to change, and expected and received follow it. In a kernel without a browser.

Not here: how it looks and that typing reaches it (`test_browser.py`).
"""

import pytest
import sampling
import torch
from IPython.utils.capture import capture_output

from course_utils import check, play
from course_utils.base import trees
from course_utils.base.errors import CourseError
from course_utils.checks import catalogue
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.learner import notebook
from course_utils.learner.input_explorer import RIGHT, InputExplorer, can_explore
from course_utils.learner.tensor_text import check_shapes, from_text, to_text

pytestmark = pytest.mark.usefixtures("course_folder")


OVER_ROWS = "def softmax(scores, temperature=1.0):\n    return (scores / temperature).softmax(0)"


def over_rows(scores, temperature=1.0):
    return (scores / temperature).softmax(0)


def in_a_cell(shell, source):
    """Run a cell; return what it displayed, by MIME type."""
    with capture_output() as shown:
        shell.run_cell(source, store_history=True).raise_error()
    return [output.data for output in shown.outputs]


def words(outputs):
    """What outputs say in words."""
    return "\n".join(output["text/plain"] for output in outputs)


def player_of(task_id, answer):
    task = catalogue.load(task_id)
    report = judge_answer(task, answer)
    return InputExplorer(task, lambda: answer, report.case)


def test_play_opens_the_input_on_which_the_last_check_failed(shell):
    in_a_cell(shell, f"from course_utils import check\n{OVER_ROWS}")
    shown = in_a_cell(shell, 'report = check("02.softmax", softmax)')
    assert "`play()` lets you change this input and see what comes." in words(shown)
    (shown,) = in_a_cell(shell, "play()")
    assert "application/vnd.jupyter.widget-view+json" in shown
    text = shown["text/plain"]
    assert "scores:\n" in text and "Expected:\n" in text and "Received:\n" in text and "✗ weights[" in text


def test_expected_and_received_follow_what_is_written():
    box = player_of("02.softmax", over_rows)
    (field,) = box.fields.values()
    field.value = "0 0\n0 0"
    assert box.message == RIGHT  # over two equal rows both ways give a half
    field.value = "0 0 0\n0 0 0"
    expected, received = box.shown
    assert torch.allclose(expected, torch.full((2, 3), 1 / 3, dtype=torch.float64))
    assert torch.equal(received, torch.full((2, 3), 0.5))
    assert box.message == "✗ weights[0, 0] is 0.5, expected 0.3333. 6 of 6 numbers are wrong."
    assert box.values.value.count("≠ 0.5") == 6, "what differs is marked"
    assert 'role="status"' in box.verdict.value


def test_an_unreadable_input_gets_one_sentence_and_loses_nothing():
    box = player_of("02.softmax", lambda scores, temperature=1.0: scores)
    field = box.fields["scores"]
    field.value = "1 2\n3 5"
    before = box.shown, box.values.value
    field.value = "1 x\n2 3"
    assert box.message == "scores, line 1: `x` is not a number. Until then you see what came before."
    assert field.value == "1 x\n2 3" and (box.shown, box.values.value) == before
    box.put_back()
    assert field.value == box.first["scores"] and box.message.startswith("✗ weights")


def test_lengths_that_disagree_are_told_by_their_letter():
    box = player_of("00.weighted_sum", lambda weights, values: values.sum(0))
    box.fields["weights"].value = "1 2 3"
    box.fields["values"].value = "1 2\n3 4"
    assert box.message.startswith("weights has S = 3 and values has S = 2: both must be the same.")
    box.fields["values"].value = "1 2\n3 4\n5 6"
    assert box.message.startswith("✗ ") and "S =" not in box.message


def test_an_input_that_has_no_right_answer_gets_a_sentence():
    task = Task("99.root", "roots", ("x S",), "roots S", difficulty=1, importance=1, minutes=5)

    @task.oracle
    def _(x):
        if (x < 0).any():
            raise ValueError("a number is below 0")
        return x.sqrt()

    box = InputExplorer(task, lambda: torch.abs, Case("two numbers", (torch.tensor([4.0, 9.0]),)))
    assert box.message == "✗ roots[0] is 4, expected 2. 2 of 2 numbers are wrong."
    box.fields["x"].value = "-4 9"
    assert box.message.startswith("There is no right answer for this input: ValueError, a number is below 0. Until ")


def test_an_answer_that_stops_or_never_ends_is_told():
    def stops(scores, temperature=1.0):
        return 1 / 0

    box = player_of("02.softmax", stops)
    assert box.message == "✗ Your function stops with ZeroDivisionError: division by zero"
    assert len(box.shown) == 1 and "expected" in box.values.value and "received" not in box.values.value


def test_a_gradient_that_is_wrong_is_shown():
    box = player_of("02.softmax", lambda scores, temperature=1.0: (scores.detach() / temperature).softmax(-1))
    assert "no gradient reaches scores" in box.message


def test_an_answer_that_was_mended_is_taken_up_and_ends_the_game(shell):
    in_a_cell(shell, "from course_utils import check, play\ndef softmax(scores, temperature=1.0):\n    return scores")
    in_a_cell(shell, 'report = check("02.softmax", softmax)')
    task, answer, case = notebook.session.failed["02.softmax"]
    box = InputExplorer(task, answer, case)
    assert box.message.startswith("✗")
    in_a_cell(shell, "def softmax(scores, temperature=1.0):\n    return (scores / temperature).softmax(-1)")
    box.fields["scores"].value = "1 2 3" if case.args[0].dim() == 1 else "1 2 3\n3 2 1"
    assert box.message == RIGHT
    in_a_cell(shell, 'report = check("02.softmax", softmax)')
    assert "There is nothing to play with" in words(in_a_cell(shell, "play()"))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("play()", "There is nothing to play with"),
        ("play(3)", "Use it like this: `play("),
        ("play('02.softmax', 3)", "Use it like this: `play("),
        ("play('02.softmax')", "There is no input of 02.softmax to play with"),
        (
            "check('17.backwards', lambda length, places: 1)\nplay()",
            "There is no input of 17.backwards to play with",
        ),
        ("play('02.q1')", "There is no input of 02.q1 to play with"),
    ],
)
def test_wrong_use_gets_a_sentence(call, says, shell):
    assert says in words(in_a_cell(shell, f"from course_utils import check, play\n{call}"))


def test_a_name_of_the_learners_own_is_not_overwritten(shell):
    in_a_cell(shell, f"from course_utils import check\nplay = 3\n{OVER_ROWS}")
    assert "play()" not in words(in_a_cell(shell, 'report = check("02.softmax", softmax)'))
    assert shell.user_ns["play"] == 3


def test_play_outside_a_notebook_breaks_nothing(capsys):
    report = check("02.softmax", over_rows)
    assert "play()" not in report.note
    assert play() is None
    assert "`play()` works in a notebook" in capsys.readouterr().out


def test_functions_and_words_cannot_be_played_with():
    for task_id, answer in (
        ("03.catch_wrong_attention", lambda candidate: True),
        ("01.must_fail", lambda *a: {}),
    ):
        task = catalogue.load(task_id)
        report = judge_answer(task, answer)
        assert report.state == "failed" and not can_explore(task, report)


ASKED = [task for number in catalogue.by_lesson() for task in catalogue.asked(number, questions=False)]


@pytest.mark.parametrize("task", sampling.usually(ASKED, 20), ids=lambda task: task.id)
def test_every_small_input_comes_back_as_it_was_and_is_right(task):
    """What is written is read back as the same input, on which the truth agrees with itself."""
    for case in task.make_cases():
        if task.candidates or not can_explore(task, type("Report", (), {"case": case})()):
            continue
        box = InputExplorer(task, lambda: task.oracle_function, case)
        for (path, old), (also, new) in zip(trees.paths(case.args), trees.paths(box.read()), strict=True):
            assert path == also
            if isinstance(old, torch.Tensor):
                assert (old.shape, old.dtype) == (new.shape, new.dtype)
                torch.testing.assert_close(old, new, equal_nan=True)
            else:
                assert old == new and type(old) is type(new)
        assert box.message == RIGHT, f"{task.id}, {case.name}: {box.message}"


@pytest.mark.parametrize(
    ("leaf", "text"),
    [
        (torch.tensor(2.5), "2.5"),
        (torch.tensor([1.0, -0.5]), "   1  -0.5"),
        (torch.tensor([[True, False]]), "1  0"),
        (torch.arange(4).reshape(2, 1, 2), "0  1\n\n2  3"),
        (torch.arange(8).reshape(2, 2, 1, 2), "0  1\n\n2  3\n\n\n4  5\n\n6  7"),
        (3, "3"),
        (0.5, "0.5"),
    ],
)
def test_numbers_are_written_in_rows(leaf, text):
    assert to_text(leaf) == text
    back = from_text(text.replace("  ", ", ", 1) if isinstance(leaf, torch.Tensor) and leaf.dim() else text, leaf, "x")
    assert type(back) is type(leaf) and torch.equal(torch.as_tensor(back), torch.as_tensor(leaf))


@pytest.mark.parametrize(
    ("text", "like", "says"),
    [
        ("", torch.zeros(2, 2), "x is empty: write at least one number."),
        (
            "1 2\n3",
            torch.zeros(2, 2),
            "x: every row needs the same number of numbers, and here are rows of 1 and of 2.",
        ),
        (
            "1,5 2\n3 4",
            torch.zeros(2, 2),
            "x: write a decimal number with a point, `1.5`, and a space after a comma between numbers.",
        ),
        ("1 2\n\n3 4", torch.zeros(2, 2), "x is one matrix: leave no blank line between its rows."),
        ("1 " * 65, torch.zeros(2, 2), "x holds more than 64 numbers: make it smaller."),
        ("2", torch.tensor([True]), "x, line 1: write 1 for True and 0 for False, not `2`."),
        ("2.5", torch.tensor([1]), "x, line 1: `2.5` is not a whole number."),
        ("99999", torch.tensor([1]), "x, line 1: whole numbers go up to 100 here, and 99999 is beyond."),
        ("1000000", 3, "x: whole numbers go up to 100 here, and 1000000 is beyond."),
        ("1 2", 3, "x is one number, and here are 2."),
        ("", 3, "x is one number, and here are none."),
        ("1\n2", torch.tensor([1.0]), "x is one row: write it on one line."),
        ("1 2", torch.tensor(1.0), "x is one number, and here are 2."),
        (
            "1\n\n2\n\n\n3",
            torch.zeros(2, 2, 1, 1),
            "x: between two blank lines there should always be as many matrices, of one shape.",
        ),
        ("1 2\n\n1 2\n3 4", torch.zeros(2, 2, 2), "x: every matrix needs the same number of rows."),
    ],
)
def test_a_text_that_is_no_input_is_refused_in_a_sentence(text, like, says):
    with pytest.raises(CourseError) as problem:
        from_text(text, like, "x")
    assert str(problem.value) == says


def test_check_shapes_compares_from_the_right_and_broadcasts():
    masked = catalogue.load("02.masked_softmax")
    check_shapes(masked, (torch.zeros(2, 3), torch.ones(3)))
    with pytest.raises(CourseError, match="scores has S = 3 and mask has S = 4: both must be the same."):
        check_shapes(masked, (torch.zeros(2, 3), torch.ones(2, 4)))
