"""Mistakes that an instructor adds to tasks: what may be changed in a solution, what is refused, and where the sentence is then said."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import sampling
import torch
from repository import ROOT
from submissions import ATTENTION, grades, needs_sandbox, notebook

from course_utils import check
from course_utils.base.errors import CourseError
from course_utils.checks import catalogue
from course_utils.checks.changed_solution import changed
from course_utils.checks.instructor_mistakes import instructor_file, packed, unpacked
from course_utils.checks.judge_answer import judge_answer
from course_utils.commands import main
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.judging import own_mistakes
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
        (
            "scores.softmax(0) -> scores",
            "nothing in the solution matches `scores.softmax(0)`. Nearest to it: `scores = query @ key.mT`, "
            "`scores = F.relu(scores, inplace=False).masked_fill(~mask, -torch.inf)`, `return scores.softmax(-1)`",
        ),
        ("scores.softmax(-1) -> pass", "`scores.softmax(-1) -> pass` replaces part of a line with a statement"),
        ("softmax(-1", "`softmax(-1` is not a change: write `old -> new`, or `name := value`"),
        ("scores.softmax( -> scores", "`scores.softmax(` in `scores.softmax( -> scores` is not Python"),
        ("length := 3", "`length := 3` changes no argument: the arguments are query, key, mask"),
    ],
)
def test_changes_that_change_nothing_are_refused_in_a_sentence(change, said):
    with pytest.raises(CourseError, match=f"^{re.escape(said)}"):
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


# Whose file it is, and where its changes run

HOSTILE = """## 03.attention: doubled

You double it.

    weights @ value -> (open({mark!r}, "a").write("x"), weights @ value * 2)[1]

## 03.padding_mask: one_too_many

You let the first position of the padding through.

    torch.arange(_) < _x -> torch.arange(_) <= _x
"""
OFF_BY_ONE = "def padding_mask(lengths, size):\n    return torch.arange(size) - 1 < lengths[:, None]\n"


@pytest.fixture
def submissions(tmp_path, monkeypatch):
    """A folder of submissions, the current one, with files that have the names of the instructor's."""
    folder = tmp_path / "in"
    (folder / "my_course/exercises").mkdir(parents=True)
    (folder / "eve").mkdir()
    hostile = HOSTILE.format(mark=str(tmp_path / "mark"))
    for place in (folder, folder / "my_course", folder / "my_course/exercises", folder / "eve", tmp_path):
        (place / "course_mistakes.md").write_text(hostile, encoding="utf-8")
    (folder / "eve/03.ipynb").write_text(notebook("import torch", OFF_BY_ONE, ATTENTION), encoding="utf-8")
    monkeypatch.chdir(folder)
    yield folder
    catalogue.use_instructor_mistakes([])


def test_no_file_is_found_in_the_current_folder_or_above_it(submissions, monkeypatch):
    monkeypatch.setenv("COURSE_HOME", str(submissions))
    monkeypatch.setattr("course_utils.checks.instructor_mistakes.PUBLISHED", submissions / "nowhere/published")
    for folder in (submissions, submissions / "eve", submissions / "my_course/exercises"):
        monkeypatch.chdir(folder)
        assert instructor_file() is None


def test_a_file_beside_the_code_is_found_from_every_folder(submissions, monkeypatch, tmp_path):
    clone = tmp_path / "clone"
    (clone / "notebooks").mkdir(parents=True)
    (clone / "pyproject.toml").write_text('name = "attention-course"', encoding="utf-8")
    (clone / "course_mistakes.md").touch()
    monkeypatch.setattr("course_utils.checks.instructor_mistakes.PUBLISHED", clone / "course_utils/published")
    assert instructor_file() == clone / "course_mistakes.md"


@needs_sandbox
@pytest.mark.parametrize("named", sampling.usually([True, False], 1))
def test_grading_runs_no_file_of_mistakes_on_the_trusted_side(submissions, tmp_path, capsys, named, monkeypatch):
    monkeypatch.setattr("course_utils.checks.instructor_mistakes.PUBLISHED", tmp_path / "nowhere/published")
    options = ["--mistakes", str(tmp_path / "course_mistakes.md")] if named else []
    assert (
        main(["grade", ".", "--out", str(tmp_path / "out"), "--workers", "1", *options]) == 1
    )  # the other files are no notebooks
    told, page = capsys.readouterr().err, (tmp_path / "out/feedback/eve.html").read_text(encoding="utf-8")
    assert not (tmp_path / "mark").exists()
    if named:
        assert f"Your own mistakes: {tmp_path / 'course_mistakes.md'}." in told
        assert "You let the first position of the padding through." in page
    else:
        assert "Your own mistakes: none. The file course_mistakes.md in this folder is not read: if it is yours" in told
        assert "You let the first position" not in page


SHADOWS = "multiprocessing pickle torch numpy filelock tqdm sitecustomize usercustomize course_lessons tomli opt_einsum".split()
IMPORTED_SINCE = "import sys, course_utils.grading.pipeline, course_utils.grading.judging.cluster; print('matplotlib' in sys.modules)"


@needs_sandbox
@pytest.mark.parametrize("module", sampling.usually([True, False], 1))
def test_modules_among_the_submissions_are_not_imported(submissions, tmp_path, module):
    """Also where Python itself looks: a new process begins with the current folder, an editable install may have names of folders."""
    mark = f"open({str(tmp_path / 'mark')!r}, 'a').write(__name__ + chr(10))\n"
    finder = submissions / f"__editable__.attention_course-{version('attention-course')}.finder.__path_hook__"
    for folder in (submissions, finder):
        folder.mkdir(exist_ok=True)
        for name in SHADOWS:
            (folder / f"{name}.py").write_text(mark, encoding="utf-8")
    script = [str(Path(sys.executable).with_name("course"))]
    words = [*([sys.executable, "-m", "course_utils"] if module else script), "grade", ".", "--out", "../out"]
    done = subprocess.run(
        [*words, "--workers", "1", "--lessons", "03"], cwd=submissions, capture_output=True, text=True
    )
    assert not (tmp_path / "mark").exists() and "eve" in grades(tmp_path / "out"), done.stderr


def test_the_trusted_side_does_without_matplotlib():
    """It reads a `matplotlibrc` in the current folder."""
    done = subprocess.run([sys.executable, "-c", IMPORTED_SINCE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@needs_sandbox
def test_changes_are_tried_in_the_sandbox(submissions, tmp_path, capsys):
    assert main(["mistakes", "--mistakes", str(tmp_path / "course_mistakes.md")]) == 0
    assert "03.padding_mask, one_too_many: You let the first position" in capsys.readouterr().out
    assert not (tmp_path / "mark").exists()
    doubled = next(each for each in catalogue.load("03.attention").mistakes if each.name == "doubled")
    assert doubled.function is None and doubled.is_run  # there is nothing to call on the trusted side


def test_a_named_file_among_the_submissions_is_refused(submissions, tmp_path, capsys):
    options = ["--out", str(tmp_path / "out"), "--mistakes", "eve/course_mistakes.md"]
    assert main(["grade", ".", *options]) == 2
    assert "lies among the submissions" in capsys.readouterr().err


def test_a_wrong_file_costs_only_itself_and_is_told_once(file, capsys, monkeypatch):
    """In a notebook. A grading stops, as the other tests say."""
    with pytest.raises(CourseError):
        file(FILE.replace("weights @ value ->", "weights * value ->"))
    monkeypatch.setattr(catalogue._Instructor, "mistakes", None)
    assert catalogue.instructor_mistakes() == catalogue.instructor_mistakes() == []
    told = capsys.readouterr().err
    assert told.count("nothing in the solution matches") == told.count("checks go on without your own mistakes") == 1


@pytest.mark.parametrize(
    "text, said",
    [
        (FILE.encode("utf-16"), "line 1, is not UTF-8: save the file in your editor as UTF-8"),
        (FILE.encode() + "\nVoil\u00e0\n".encode("latin-1"), "line 14, is not UTF-8"),
        (FILE.replace("weights @ value ->", "(" * 9999 + "weights ->"), "is not Python|too deeply nested"),
        (FILE.replace("weights @ value ->", "weights @ value -> " + "-" * 9999), "is not Python|too deeply nested"),
        (FILE + " " * 2**20, "more than a megabyte"),
    ],
)
def test_a_file_that_holds_no_changes_is_refused(file, text, said):
    with pytest.raises(CourseError, match=said):
        file(text)


def test_a_file_that_is_not_there_is_refused_in_a_sentence(tmp_path, capsys):
    assert main(["mistakes", "--mistakes", str(tmp_path / "nowhere.md")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_a_terminal_obeys_no_sentence(file, capsys):
    file(FILE.replace("plain mean", "plain \x1b[31m\x07\u202emean"))
    main(["mistakes"])
    told = capsys.readouterr().out
    assert "You return the plain" in told and not {"\x1b", "\x07", "\u202e"} & set(told)


ENDLESS = ("sum(iter(int, 1))", "[0 for _ in iter(int, 1)]", "10 ** 10 ** 10")


@needs_sandbox
@pytest.mark.parametrize("endless", sampling.usually(ENDLESS, 1))
def test_a_change_without_an_end_is_told(file, capsys, monkeypatch, endless):
    monkeypatch.setattr(own_mistakes, "LIMITS", Limits(seconds=1))
    file(f"## 03.attention: endless\n\nA sentence.\n\n    weights @ value -> weights @ value * ({endless})\n")
    assert main(["mistakes"]) == 1
    assert "this was stopped, as it needs too much time or memory" in capsys.readouterr().err
