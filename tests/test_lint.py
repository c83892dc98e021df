"""Tests of course_utils/authoring/lint.py: a good small course has no breach, each breach its own sentence."""

import json

import pytest

from course_utils.authoring.lint import lint, prose
from course_utils.authoring.sources import begins_in_header, read_source

HEADER = """\
# %% [markdown]
# Words are numbers here.

"""
STEP = """\
# %% [markdown]
# Step NUMBER: which is larger, `just!` or $n!$?

# %% tags=["nbval-check-output"]
# a comment does not count
step = NUMBER
step

"""
PLOT = """\
# %% [markdown]
# Which way does the line go?

# %%
plot([1, 2])

# %% [markdown]
# It goes up. ![a picture!](just.png) and [a link](simply.html) are here.

"""
SILENT = """\
# %%
def shout():
    print("loud")


shout;

"""
ENDING = """\
# %% [markdown]
# ## Recap
# - one
#   goes on
# - two
# - three
#
# [Exercises](../exercises/01_sums_exercises.ipynb)
#
# **Next** What if order counts?
"""
LESSON = HEADER + "".join(STEP.replace("NUMBER", str(n)) for n in range(8)) + PLOT + SILENT + ENDING

TASK = '''\
# %% [markdown]
# ## 01.answer_NUMBER
#
# A task.

# %%
def answer_NUMBER(number):
    """Return twice a number.

    Args:
        number: any.

    Returns:
        Its double.

    Example:
        >>> answer_NUMBER(1)
        2
    """
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION

# %%
check("01.answer_NUMBER", answer_NUMBER)

'''
SOLUTION = "# %% [markdown]\n# Exercises on sums\n\n" + "".join(
    TASK.replace("NUMBER", str(number)) for number in range(3)
)
FACTS = """\
from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="01", title="Sums", question="What is a sum?", goals=("add",), needs="nothing", reading=5, runs="a second"
)
"""
NAMES = ("course_lessons/lesson_01_sums/lesson.py", "course_lessons/lesson_01_sums/exercises.py")


class Course:
    """A small course in a folder; the outputs of its built notebooks are written, not computed."""

    facts = FACTS

    def __init__(self, root):
        self.root, self.texts, self.outputs = root, dict(zip(NAMES, (LESSON, SOLUTION), strict=True)), {}

    def change(self, name, old, new, count=1):
        assert old in self.texts[name]
        self.texts[name] = self.texts[name].replace(old, new, count)

    def line(self, name, piece):
        before, found, _ = self.texts[name].partition(piece)
        assert found
        return before.count("\n") + 1

    def lint(self):
        facts = self.root / "course_lessons/lesson_01_sums/__init__.py"
        facts.parent.mkdir(parents=True, exist_ok=True)
        facts.write_text(self.facts, encoding="utf-8")
        for name, text in self.texts.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
            source = read_source(self.root, name)
            header, setup = (
                {"cell_type": kind, "metadata": {"tags": tags}}
                for kind, tags in (("markdown", []), ("code", ["setup"]))
            )
            cells = [header, setup, *map(self.built, source[begins_in_header(source) :])]
            folder = self.root / ("solutions" if name.endswith("exercises.py") else "notebooks")
            folder.mkdir(exist_ok=True)
            (folder / "01_sums.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
        return lint(self.root)

    def built(self, cell):
        made = {"cell_type": cell.kind, "metadata": cell.metadata, "source": cell.text}
        if cell.kind == "markdown":
            return made
        outputs = [{"output_type": "execute_result", "data": {"text/plain": "1"}}]
        if "plot(" in cell.text:
            outputs = [{"output_type": "display_data", "data": {"image/png": "aGk="}}]
        if "def " in cell.text:
            outputs = []
        for piece, written in self.outputs.items():
            outputs = written if piece in cell.text else outputs
        return made | {"outputs": outputs}


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def test_a_good_course_has_no_breach(course, tmp_path):
    assert course.lint() == []
    for path in tmp_path.rglob("*.ipynb"):
        path.unlink()
    assert lint(tmp_path) == []  # what is not built is linted without outputs


def test_a_document_is_held_to_the_same_english(course, tmp_path):
    table = "It has `attentions`, and:\n\n| what | too |\n| --- | --- |\n| an attention | x |"
    (tmp_path / "README.md").write_text(f"# A course\n\n{table}\n")
    assert course.lint() == []
    (tmp_path / "README.md").write_text(f"# A course\n\n{HABITS}\n")
    (breach,) = course.lint()
    unidiomatic = '5 phrases in 15 words are unidiomatic, at most 2.5 in 1,000. Better: line 3, "So": '
    assert breach.startswith(f"README.md: {unidiomatic}") and 'line 3, "in place of": instead of' in breach


def words(count):
    return "word " * (count - 1) + "end."


LONG_CODE = "\n".join(f"a{number} = {number}" for number in range(26)) + "\na0"
HABITS = "The attentions, too, come out right in place of theirs. So it goes."
ONE_STEP = STEP.replace("NUMBER", "7")

# what is replaced, by what, the piece at whose line the breach stands (None: in no line), and its sentence
BREACHES = [
    (ONE_STEP + PLOT + SILENT, PLOT, None, "has 19 cells, at least 20"),
    (SILENT, SILENT * 32, None, "has 53 cells, at most 52"),
    (' tags=["nbval-check-output"]', "", None, "has 2 cells tagged nbval-check-output, at least 3"),
    ("step = 3\nstep", LONG_CODE, "# a comment does not count\na0", "code cell has 27 lines, at most 25"),
    ("step = ", "(\n1,\n2,\n3,\n4,\n5,\n6,\n7,\n8,\n)\nstep = ", None, "code cells have 12 lines in the median"),
    ("step = 3", f"step = 3{' ' * 80}+ 0", "step = 3", "a line of code has 91 columns, at most 88"),
    ("step = 3", "(step,), _ = [3], 4", "(step,)", "nested unpacking: give the parts names on lines of their own"),
    ("step = 3", "step, other = 3, 4", "step, other", "two assignments in one: write a line for each"),
    ("step = 3", "step = (other := 3)", "step = (other", "an assignment within an expression"),
    ("step = 3", "step = [[a for a in [b]] for b in [3]]", "step = [[", "a comprehension inside a comprehension"),
    ("Words are numbers here.", words(33), words(33), "a sentence has 33 words, at most 32: word"),
    ("It goes up.", f"It goes up ({'word ' * 12}end).", "It goes up", "a bracket has 13 words"),
    ("It goes up.", f"It goes up.{' Perhaps.' * 3}", None, 'has 3 times "perhaps", at most 2'),
    ("Step 3: which", "Step 3: simply, which", "Step 3", '"simply" in prose: leave it out'),
    ("It goes up.", "Well.\n# Obviously it goes up.", "Obviously", '"Obviously" in prose: leave it out'),
    ("Step 3: which", "Step 3: just which", "Step 3", '"just" in prose: leave it out'),
    ("Step 3: which", "Step 3! Which", "Step 3", '"!" in prose: leave it out'),
    ("It goes up.", HABITS, None, "5 phrases in "),
    ("## Recap", "## Summary", "## Summary", "the last cell has no recap: a heading or bold **Recap**"),
    ("# - two\n# - three\n", "", "## Recap", "the recap has 1 lines, at least 3"),
    ("# - two\n", "# - two\n" * 4, "## Recap", "the recap has 6 lines, at most 5"),
    ("../exercises/01_sums", "../exercises/02_sums", "## Recap", "the last cell has no link to ../exercises/01_s"),
    ("order counts?", "order counts.", "## Recap", "the last cell has no **Next** with a question"),
    ("line go?", "line go.", "plot(", "the text before a picture has no question, and does not ask for a"),
    ("[markdown]\n# It goes", "\nx = 1\n\n# %% [markdown]\n# It goes", "plot(", "a picture has no text right after it"),
    ("# %%\nplot(", '# %% tags=["nbval-check-output"]\nplot(', "plot(", "a picture is not compared"),
]


NO_PROMPT = "the task has no markdown cell right before it that begins with `## ` and its id"
SOLUTION_BREACHES = [
    (SOLUTION.partition("\n\n")[2], "", None, "has 0 tasks, at least 1"),
    (TASK.replace("NUMBER", "1"), TASK * 11, None, "has 13 tasks, at most 12"),
    ("# ## 01.answer_0", "# A word.\n\n# %%\n# ## 01.answer_0", "def answer_0", NO_PROMPT),
    ("## 01.answer_0", "## Answer 0", "def answer_0", NO_PROMPT),
    ("    Returns:", "    Returned:", "def answer_0", "the task's docstring lacks Returns: as lines of their own"),
    ('check("01.answer_0"', 'print("01.answer_0"', "def answer_0", "the task has no check cell right under it"),
    ("A task.", "Just a task.", "Just", '"Just" in prose: leave it out'),
    ("A task.", HABITS, None, "5 phrases in "),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "piece", "message"),
    [(name, *one) for name, table in zip(NAMES, (BREACHES, SOLUTION_BREACHES), strict=True) for one in table],
    ids=lambda text: str(text)[:40],
)
def test_each_breach_in_a_source_is_named_with_its_line(course, name, old, new, piece, message):
    course.change(name, old, new, count={"step = ": -1, ' tags=["nbval-check-output"]': 6}.get(old, 1))
    place = f", line {course.line(name, piece)}" if piece else ""
    (breach,) = course.lint()
    assert breach.startswith(f"{name}{place}: {message}")


CORRECT = [
    (NAMES[0], "It goes up.", "So it goes up, too.", "two phrases in a short text"),
    (NAMES[0], "line go?", "line go. Before you run the cell, guess where.", "a picture after an instruction"),
    (NAMES[0], SILENT, SILENT * 31, "52 cells"),
    (NAMES[0], "step = 3\nstep", LONG_CODE.replace("a0 = 0\na1 = 1\n", "") + "1", "20 lines of code"),
    (NAMES[0], "Words are numbers here.", words(32), "a sentence of 32 words"),
    (NAMES[0], "step = 3", f"step = 3{' ' * 77}+ 0", "a line of 88 columns"),
    (NAMES[0], "step = 3", "step, (other) = divmod(7, 2)", "two results of one call"),
    (NAMES[0], "## Recap", "**Recap.**", "a recap in bold"),
    (NAMES[0], "# - one\n#   goes on\n# - two\n# - three", "# One.\n# Two.\n# Three.", "a recap of sentences"),
    (NAMES[0], "# - three", "# - three\n# - four\n# - five", "a recap of five items"),
    (NAMES[0], "step = 3", "step = 3  # just\nassert step != 4", "code is not prose"),
    (NAMES[0], "a comment does not", "self.print(1) does not", "a comment is not code"),
    (NAMES[1], ">>> answer_0(1)", "answer_0(1) is", "an example in words"),
]


@pytest.mark.parametrize(("name", "old", "new", "what"), CORRECT, ids=[right[-1] for right in CORRECT])
def test_lint_accepts_changes_that_break_no_rule(course, name, old, new, what):
    course.change(name, old, new)
    assert course.lint() == []


def test_lint_accepts_as_many_as_allowed(course):
    lengthen = "\n".join(f"b{number} = 1" for number in range(8)) + "\nstep = "
    course.change(NAMES[0], "step = ", lengthen, -1)  # ten lines of code in the median
    course.change(NAMES[0], ' tags=["nbval-check-output"]', "", 5)  # three of eight left
    assert course.lint() == []


def test_a_lesson_that_ends_in_code_lacks_recap_link_and_next(course):
    course.change(NAMES[0], HEADER, "# %%\nx = 1\n\n")
    course.change(NAMES[0], ENDING, "# %%\ny = 1\n")
    found = [breach.removeprefix(f"{NAMES[0]}: the last cell has no ")[:5] for breach in course.lint()]
    assert found == ["recap", "link ", "**Nex"]


@pytest.mark.parametrize("end", ["", '# %% [markdown]\n# check("01.answer_2")\n'])
def test_a_last_task_without_a_check_is_named(course, end):
    course.change(NAMES[1], '# %%\ncheck("01.answer_2", answer_2)\n', end)
    line = course.line(NAMES[1], "def answer_2")
    assert course.lint() == [f"{NAMES[1]}, line {line}: the task has no check cell right under it"]


def stream(text, name="stdout"):
    return [{"output_type": "stream", "name": name, "text": text}]


def result(text):
    return [{"output_type": "execute_result", "data": {"text/plain": text}}]


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([{"output_type": "error", "ename": "ValueError"}], "the built notebook shows an error: ValueError"),
        (stream("hello", "stderr"), "the built notebook shows text on stderr: mend what warns"),
        (result("[<XTick at 0x7f8e>]"), "the built notebook shows <XTick"),
        ([], "code cell ends in an expression but shows nothing"),
    ],
)
@pytest.mark.parametrize(("name", "piece"), [(NAMES[0], "step = 3"), (NAMES[1], 'check("01.answer_2')])
def test_each_breach_in_an_output_is_named_with_its_line(course, name, piece, outputs, message):
    course.outputs[piece] = outputs
    start = "# a comment does not count\nstep = 3" if name == NAMES[0] else piece
    (breach,) = course.lint()
    assert breach.startswith(f"{name}, line {course.line(name, start)}: {message}")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("print(1);", "prints"),
        ("book.print(1);", None),
        ("for i in range(3):\n    print(i)", "prints"),
        ("x = 1\nx", "ends in an expression"),
        ("x = 'ä'; x", "ends in an expression"),
        ("x = 1\nx;  # quiet", None),
        ("x = 'ä'; x ;", None),
        ("def f():\n    print(1)", None),
        ("f = lambda: print(1)", None),
        ("x = 1", None),
        ("# only words", None),
    ],
)
def test_a_cell_that_should_show_something_is_named_if_empty(course, code, why):
    course.change(NAMES[0], "step = 3\nstep", code)
    course.outputs[code] = []
    line = course.line(NAMES[0], "# a comment does not count\n" + code)
    assert course.lint() == ([f"{NAMES[0]}, line {line}: code cell {why} but shows nothing"] if why else [])


def test_outputs_of_another_version_are_not_judged(course):
    course.outputs["step = 3"] = []
    assert len(course.lint()) == 1
    path = course.root / NAMES[0]
    path.write_text(course.texts[NAMES[0]].replace(SILENT, SILENT * 2), encoding="utf-8")
    assert lint(course.root) == []


def test_a_source_that_cannot_be_read_does_not_hide_the_others(course):
    course.change(NAMES[1], "## 01.answer_0", "## Answer")
    course.lint()
    (course.root / NAMES[0]).write_text("# %%\nx = (\n", encoding="utf-8")
    first, second = lint(course.root)
    assert first.startswith(f"{NAMES[0]}, line 2: this is not Python")
    assert second.startswith(NAMES[1])


def test_prose_is_what_is_read():
    text = "A `b!` [c](d!) ![e!](f) $g!$\n\n$$h!\ni!$$\n\n| j! |\n```\nk!\n```\n<b title='l!'>m</b> ``n!`n!`` o"
    assert prose(text).split() == ["A", "[c]", "m", "o"]
    assert prose(text).count("\n") == text.count("\n")


def test_a_lesson_says_how_long_it_takes(course):
    course.facts = FACTS.replace("reading=5", "reading=30")
    (breach,) = course.lint()
    assert f"{NAMES[0]}: says 30 minutes, and " in breach


def test_questions_do_not_count_as_cells(course):
    asked = "".join(f'# %%\ncheck("01.q{n}", ...)\n\n' for n in range(1, 26))
    course.change(NAMES[0], ENDING, asked + ENDING)
    course.facts = FACTS.replace("reading=5", "reading=55")
    assert course.lint() == []


@pytest.mark.parametrize(("text", "fine"), [("0.40 is it", False), ("", False), ("temperature, weights\n0.40", True)])
def test_a_folded_output_gives_nothing_away(course, text, fine):
    course.change(NAMES[0], '"]\n# a comment does not count\nstep = 3', '", "reveals"]\nstep = 3')
    course.outputs["step = 3"] = stream(text)
    found = course.lint()
    assert (found == []) if fine else "stays in sight, and may hold no number" in found[0]


DIFFER = ("2.1159482e-10", "p = -22.276348114013672", "largest difference: 2e-07", "0e+00", "[0.1, 0.30000001]")
AGREE = ("0.000001 and 3.3e+18", "tensor([0.1234, 1.5e-05])", "29532.2", "below 1e-5: True")


@pytest.mark.parametrize("shown", DIFFER + AGREE)
def test_compared_outputs_show_no_digit_that_may_differ(course, shown):
    course.outputs["step = 3"] = result([shown]) if shown in AGREE else stream(["step\n", shown])
    line = course.line(NAMES[0], "# a comment does not count\nstep = 3")
    found = [breach.partition(" (")[0] for breach in course.lint()]
    assert len(found) == (shown in DIFFER) and all(f"line {line}: a compared output" in one for one in found)
