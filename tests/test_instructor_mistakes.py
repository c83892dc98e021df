"""Mistakes that an instructor adds to tasks: what may be changed in a solution, what is refused, and where the sentence is then said."""

import re

import pytest
import torch
from repository import ROOT

from course_utils import check
from course_utils.base.errors import CourseError
from course_utils.checks import catalogue
from course_utils.checks.changed_solution import changed
from course_utils.checks.instructor_mistakes import packed, unpacked
from course_utils.checks.judge_answer import judge_answer
from course_utils.commands import main
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.notebook_grader import result_key, tasks_digest

SOLUTION = '''
def score(query, key, mask=None):
    """Score."""
    scores = query @ key.mT  # B T S
    if mask is not None:
        scores = F.relu(scores, inplace=False).masked_fill(~mask, -torch.inf)
    return scores.softmax(-1)
'''
IMPORTS = "import math\nimport torch\nfrom torch.nn import functional as F"


@pytest.mark.parametrize(
    "change, line",
    [
        ("_.softmax(-1) -> _", "    return scores"),
        ("_x @ _y.mT -> _y @ _x.mT", "    scores = key @ query.mT"),
        ("scores = query @ key.mT -> keys = key.mT; scores = query @ keys", "    keys = key.mT"),
        (
            "inplace=False -> inplace=True",
            "        scores = F.relu(scores, inplace=True).masked_fill(~mask, -torch.inf)",
        ),
        ("inplace=_ -> pass", "        scores = F.relu(scores).masked_fill(~mask, -torch.inf)"),
        ("mask := ~mask", "    mask = mask if mask is None else ~mask"),
        ("scores = _ -> scores = _; if mask is None: return scores", "    if mask is None:"),
        ("return _ -> return -_", "    return -scores.softmax(-1)"),
    ],
)
def test_changed_changes_a_line_and_adds_the_imports_it_needs(change, line):
    made = changed(SOLUTION, [change], IMPORTS)
    assert line in made.splitlines() and "Score." not in made
    assert ("import torch" in made) == ("torch" in made.replace("import torch", "").replace("from torch", ""))
    assert "import math" not in made


def test_a_call_that_is_a_statement_becomes_several():
    made = changed(
        "def f(kept, x):\n    kept.append(x)\n    return kept", ["kept.append(x) -> kept.append(x); x = None"]
    )
    assert made.splitlines()[1:] == ["    kept.append(x)", "    x = None", "    return kept"]


def test_several_changes_are_made_at_once():
    exchanged = changed("def f(a, b):\n    return a - b", ["a := b", "b := a"])
    assert "a, b = (a if a is None else b, b if b is None else a)" in exchanged
    made = changed(SOLUTION, ["query -> key", "key -> query", "_.softmax(-1) -> _"])
    assert "    scores = key @ query.mT" in made and made.endswith("return scores\n")


@pytest.mark.parametrize(
    "change, said",
    [
        ("scores.softmax(0) -> scores", "nothing in the solution matches `scores.softmax(0)`"),
        ("scores.softmax(-1) -> pass", "`scores.softmax(-1) -> pass` replaces part of a line with a statement"),
        ("softmax(-1", "`softmax(-1` is not a change: write `old -> new`, or `name := value`"),
        ("scores.softmax( -> scores", "`scores.softmax(` in `scores.softmax( -> scores` is not Python"),
        ("length := 3", "`length := 3` changes no argument: the arguments are query, key, mask"),
    ],
)
def test_changes_that_change_nothing_are_refused_in_a_sentence(change, said):
    with pytest.raises(CourseError, match=f"^{said.replace('(', '[(]').replace(')', '[)]').replace('`', '.')}"):
        changed(SOLUTION, [change])


FILE = """# Seen in class

## 03.attention: mean_of_values

You return the plain mean of the values:
the weights are not used.

    weights @ value -> value.mean(1, keepdim=True).expand_as(weights @ value)

## 03.attention: scaled

Leave out the division, as lesson 03 does.
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file of own mistakes beside the course's code, and the course as a new process sees it then."""
    place = tmp_path / "course_mistakes.md"
    monkeypatch.setattr("course_utils.checks.catalogue.instructor_file", lambda: place)
    monkeypatch.setattr("course_utils.grading.judging.own_mistakes.instructor_file", lambda: place)
    monkeypatch.chdir(tmp_path)

    def write(text):
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        catalogue.use_instructor_mistakes(catalogue.read_instructor_mistakes())

    yield write
    catalogue.use_instructor_mistakes([])


def mean_of_values(query, key, value, mask=None):
    weights = torch.full((*query.shape[:2], key.shape[1]), 1 / key.shape[1])
    return weights @ value, weights


def test_mistakes_are_named_in_notebooks_and_can_be_tried(file, capsys):
    file(FILE)

    def attention(query, key, value, mask=None):
        weights = (query @ key.mT).masked_fill(~mask, -torch.inf) if mask is not None else query @ key.mT
        weights = weights.softmax(-1).nan_to_num()
        return value.mean(1, keepdim=True).expand(-1, query.shape[1], -1), weights

    check("03.attention", attention)
    assert "You return the plain mean of the values: the weights are not used." in capsys.readouterr().out
    scaled = catalogue.load("03.attention").wrong("scaled")
    assert judge_answer(catalogue.load("03.attention"), scaled).message == "Leave out the division, as lesson 03 does."
    assert main(["mistakes"]) == 0
    out = capsys.readouterr().out
    assert "03.attention, mean_of_values: You return the plain mean of the values" in out
    assert "03.attention, scaled: Leave out the division" in out


def test_the_file_on_the_instructors_page_is_accepted(file, capsys):
    text = (ROOT / "docs/instructors.md").read_text(encoding="utf-8")
    file(re.search(r"^```markdown course_mistakes.md\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1])
    assert main(["mistakes"]) == 0
    out = capsys.readouterr().out
    assert "mean_of_values: You return the plain mean" in out and "scaled: Leave out the division" in out


@pytest.mark.parametrize(
    "old, new, said",
    [
        (
            "## 03.attention: mean_of_values",
            "## 03.attention",
            "line 3: expected a heading such as `## 03.attention: name",
        ),
        (
            "## 03.attention: mean",
            "## 03.attentoin: mean",
            'line 3: there is no task 03.attentoin (did you mean "03.attention"?)',
        ),
        (
            "You return the plain mean of the values:\nthe weights are not used.\n",
            "",
            "line 3: write below the heading",
        ),
        ("weights @ value ->", "weights * value ->", "line 3: nothing in the solution matches `weights * value`"),
        (
            "weights @ value -> value",
            "weights @ value -> valeu",
            'line 3: `valeu` is not defined (did you mean "value"',
        ),
        (
            "03.attention: scaled",
            "03.attention: mean_of_values",
            "line 10: 03.attention has two mistakes named mean_of",
        ),
        (
            "03.attention: scaled",
            "03.attention: scald",
            '03.attention has no mistake scald (did you mean "scaled"?): write below',
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(file, old, new, said):
    with pytest.raises(CourseError, match=re.escape(said)):
        file(FILE.replace(old, new))


@pytest.mark.parametrize(
    "change, said",
    [
        ("query @ key.mT -> query @ key.transpose(-1, -2)", "this is correct in every case of the task"),
        ("query @ key.mT -> query @ key.mT / query.shape[-1] ** 0.5", "exactly what the mistake scaled does"),
        (
            "query @ key.mT -> query @ key.transposed()",
            "in every case with AttributeError: 'Tensor' object has no attribute",
        ),
    ],
)
def test_a_mistake_that_no_check_could_name_is_refused(file, change, said, capsys):
    name = f"own_{len(change)}"  # what a mistake of some name gives is kept
    file(f"## 03.attention: {name}\n\nA sentence.\n\n    {change}\n")
    assert main(["mistakes"]) == 1
    told = capsys.readouterr().err
    assert said in told and "course_mistakes.md, line 1, 03.attention" in told


def test_a_copy_without_solutions_holds_the_changed_ones(file, tmp_path, monkeypatch):
    file(FILE)
    own, _ = catalogue.instructor_mistakes()
    packed_one, reworded = unpacked(packed(catalogue.instructor_mistakes()))
    assert packed_one == own and not reworded.source
    answer = catalogue.load("03.attention").function_from(packed_one.source, packed_one.name)
    context, _ = answer(*map(torch.ones, ((1, 2, 3), (1, 2, 3), (1, 2, 4))))
    assert context.tolist() == torch.ones(1, 2, 4).tolist()
    key = lambda: result_key(Found("ada", None, ""), 2**100, Limits())  # noqa: E731
    with_them = key()
    file("")
    assert key() != with_them  # what was graded without a mistake is graded again


def test_the_digest_of_tasks_changes_with_a_solution(monkeypatch):
    """The mistakes are changes of it: what was graded before is graded again."""
    before = tasks_digest.__wrapped__()
    other = catalogue.solutions() | {"03.attention": "def attention(): pass"}
    monkeypatch.setattr("course_utils.grading.judging.notebook_grader.solutions", lambda: other)
    assert tasks_digest.__wrapped__() != before
