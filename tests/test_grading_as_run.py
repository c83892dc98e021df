"""What passes in Run All earns the same in a class: each notebook is run in a shell with its real checks, and graded."""

import json
import random
import re
import warnings
from inspect import signature
from pathlib import Path

import pytest
import sampling
import torch
from submissions import needs_sandbox, notebook
from tasks import TASKS, answer_of, judge_answer, solutions

from course_utils import check
from course_utils.checks import catalogue
from course_utils.checks.running.isolated_state import isolated_state
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.judging.budget import Limits
from course_utils.learner import state

pytestmark = needs_sandbox
SOLVED = {path.stem[:2]: path for path in sorted((Path(__file__).parents[1] / "solutions").glob("*.ipynb"))}


def solved(lesson):
    """Return the code cells of a lesson's solved exercises."""
    cells = json.loads(SOLVED[lesson].read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def checking(cells, name):
    """Return the place of the cell that checks an answer."""
    return next(place for place, cell in enumerate(cells) if re.search(rf"^check\(.*\b{name}\)", cell, re.M))


def defining(cells, name):
    """Return the place of the cell that defines an answer."""
    return next(place for place, cell in enumerate(cells) if re.search(rf"^(def|class) {name}\b", cell, re.M))


@pytest.fixture
def run_all(shell, course_folder, capsys, monkeypatch):
    """Run cells as Run All does, in a shell whose process stays as it was; return {task: what its last check said}."""
    shell.user_ns["exit"] = shell.user_ns["quit"] = lambda *args: None  # a kernel ends when its cell has ended
    compiled = lambda f=None, **options: f or (lambda f: f)  # noqa: E731

    def run(cells):
        with monkeypatch.context() as patched, isolated_state(), warnings.catch_warnings():
            warnings.simplefilter("default")
            patched.setattr(torch, "compile", compiled)  # for the same results it takes a minute, and a compiler
            for name in ("softmax", "where"):
                patched.setattr(torch, name, getattr(torch, name))  # put back afterwards
            for cell in cells:
                result = shell.run_cell(cell)
                assert result.success, f"{cell}\n{capsys.readouterr().out}"
        return {task: entry["state"] for task, entry in state.read().items()}

    return run


@pytest.fixture(scope="module")
def grader(make_grader):
    """One for all, since what it expects of answers takes it a second to find out."""
    return make_grader(2**100 + 7)


@pytest.fixture
def graded(grader, tmp_path):
    def grade(cells, lesson="03", text=None):
        path = tmp_path / SOLVED[lesson].name
        path.write_text(text or notebook(*cells), encoding="utf-8", newline="")
        return grader.grade(Found("ada", path, path.name), "00" * 32)

    return grade


def after(name, *more):
    """Put cells behind the check of an answer in lesson 03."""

    def change(cells):
        place = checking(cells, name) + 1
        return [*cells[:place], *more, *cells[place:]]

    return change


def replaced(name, *changes):
    """Change the text of the cell that defines an answer in lesson 03."""

    def change(cells):
        cells = list(cells)
        for old, new in changes:
            assert old in cells[defining(cells, name)]
            cells[defining(cells, name)] = cells[defining(cells, name)].replace(old, new)
        return cells

    return change


def renamed(asks):
    """Give the answer to 03.causal_mask another name, and check it in another way; ID stands for the task."""

    def change(cells):
        cells = replaced("causal_mask", ("def causal_mask", "def mine"))(cells)
        return [
            'ID = "03.causal_mask"\n' + asks if cell.startswith('check("03.causal_mask"') else cell for cell in cells
        ]

    return change


HELPER = "def normalise(scores):\n    return scores.softmax(-1)\n\n\ndef attention("
USES_IT = (
    ("def attention(", HELPER),
    (
        "return weights @ value, weights",
        "weights = normalise(scores)\n    weights = torch.where(weights.isnan(), 0.0, weights)\n    return weights @ value, weights",
    ),
)
OTHER = "def normalise(vectors):\n    return vectors / vectors.norm(dim=-1, keepdim=True)\n\n\ndef influence("
SCALE = (("def causal_mask(", "FIRST = 0\n\n\ndef causal_mask("), (".tril()", ".tril(FIRST)"))
STUB = "def padding_mask(lengths, size):\n    raise NotImplementedError"
CASES = {
    "two helpers of one name": lambda cells: replaced("influence", ("def influence(", OTHER))(replaced("attention", *USES_IT)(cells)),
    "a constant set again further down": lambda cells: after("causal_mask", "FIRST = 1")(replaced("causal_mask", *SCALE)(cells)),
    "a reference of one's own": after("catch_wrong_attention", "reference = torch.randn(2, 3)"),
    "an answer's name for what it returned": after("causal_mask", "causal_mask = causal_mask(4)"),
    "torch is 5 at last": lambda cells: [*cells, "torch = 5"],
    "an answer's parts replaced at last": lambda cells: [*cells, "torch.softmax = torch.where = None"],
    "a list that an answer reads is emptied": lambda cells: after("causal_mask", "KEPT.clear()")(replaced("causal_mask", ("def causal_mask(", "KEPT = [0]\n\n\ndef causal_mask("), (".tril()", ".tril(KEPT[0])"))(cells)),
    "exit in an answer": replaced("causal_mask", ("return ", "exit()\n    return ")),
    "quit in a cell": after("causal_mask", "quit()"),
    "a copied stub below": after("padding_mask", STUB),
    "a copied stub above": lambda cells: after("padding_mask", STUB, 'check("03.padding_mask", padding_mask)')(cells),
    "an answer of another name": replaced("padding_mask", ("def padding_mask", "def my_mask")),
    "an answer that is a lambda": after("padding_mask", STUB, 'check("03.padding_mask", lambda lengths, size: torch.arange(size) < lengths[:, None])'),
    "a compiled answer": replaced("causal_mask", ("def causal_mask", "@torch.compile\ndef causal_mask")),
    "compiled with options": replaced("causal_mask", ("def causal_mask", "@torch.compile(dynamic=True)\ndef causal_mask")),
    "a cell that awaits": replaced("causal_mask", ("def causal_mask(", "import asyncio\n\n\nasync def first():\n    await asyncio.sleep(0)\n    return 0\n\n\nFIRST = await first()\n\n\ndef causal_mask("), (".tril()", ".tril(FIRST)")),
    "an answer in a cell with magic": replaced("causal_mask", ("def causal_mask(", "%timeit -n1 -r1 1\n\ndef causal_mask(")),
    "anomaly detection": lambda cells: ["import torch; torch.autograd.set_detect_anomaly(True)", *cells],
    "float64": lambda cells: ["import torch; torch.set_default_dtype(torch.float64)", *cells],
    "the device meta": lambda cells: ["import torch; torch.set_default_device('meta')", *cells],
    "no gradients": lambda cells: ["import torch; torch.inference_mode().__enter__()", *cells],
    "warnings as errors": lambda cells: replaced("causal_mask", ("    return ", "    warnings.warn('old')\n    return "))(["import warnings; warnings.simplefilter('error')", *cells]),
    "display with options": replaced("causal_mask", ("return ", "display(size, clear=True)\n    return ")),
    "a class of the course in an annotation": replaced("causal_mask", ("def causal_mask(size)", "from course_utils.models.transformer import Transformer\n\n\ndef causal_mask(size, model: Transformer | None = None, other: None | Transformer = None)")),
    "a check by names": lambda cells: [cell.replace('check("03.causal_mask", causal_mask)', 'check(answer=causal_mask, task_id="03.causal_mask")') for cell in cells],
    "a check of the function alone": lambda cells: [cell.replace('check("03.causal_mask", causal_mask)', 'check(causal_mask)') for cell in cells],
    "a check in a helper": lambda cells: [cell.replace('check("03.causal_mask", causal_mask)', 'def is_right(answer):\n    return check("03.causal_mask", answer)\n\n\nis_right(causal_mask)') for cell in cells],
    "a check that is asserted": lambda cells: [cell.replace('check("03.causal_mask", causal_mask)', 'assert check("03.causal_mask", causal_mask).state == "passed"') for cell in cells],
    "a cell that checks and goes on": lambda cells: [cell + ("\nFIRST = 1\nprint(FIRST)" if 'check("03.causal_mask"' in cell else "") for cell in replaced("causal_mask", *SCALE)(cells)],
    "check by another name": renamed("from course_utils import check as c\nc(ID, mine)"),
    "check of the package": renamed("import course_utils as cu\ncu.check(ID, mine)"),
    "check by names, of another function": renamed("check(seed=3, answer=mine, task_id=ID)"),
    "checks in a loop": renamed("for task, answer in {ID: mine}.items():\n    check(task, answer)"),
    "a check in a helper of another function": renamed("def try_it(f):\n    return check(ID, f)\n\n\ntry_it(mine)"),
    "a check in a block": renamed("with torch.no_grad():\n    try:\n        check(ID, mine)\n    finally:\n        pass"),
    "a check by run_cell": renamed("get_ipython().run_cell('check(ID, mine)')"),
    "a demonstration below the check": after("causal_mask", 'check("03.causal_mask", lambda size: 3, keep=False)'),
    "isinstance of a class of the course": replaced("causal_mask", ("def causal_mask(size):", "from course_utils.models.transformer import Transformer\n\n\ndef causal_mask(size):"), ("    return ", "    if isinstance(size, (Transformer, str)):\n        size = 3\n    return ")),
    "one cell for all": lambda cells: ["\n\n\n".join(cells)],
}  # fmt: skip


@pytest.mark.parametrize("name", sampling.usually(list(CASES), 9))
def test_a_notebook_earns_what_its_checks_said(name, run_all, graded):
    cells = CASES[name](solved("03"))
    if name == "an answer of another name":
        cells = [cell.replace('"03.padding_mask", padding_mask', '"03.padding_mask", my_mask') for cell in cells]
    said, result = run_all(cells), graded(cells)
    assert {verdict.task: verdict.state for verdict in result.verdicts} == said, result.remarks
    assert result.suspicions == () or "replaces what it is measured with" in result.suspicions[0]


def test_a_stub_does_not_remember_inputs_for_the_answer_below(graded):
    remembers = (
        "KEPT = []\n\n\ndef padding_mask(lengths, size):\n    KEPT.append(lengths)\n    raise NotImplementedError"
    )
    answers = "def padding_mask(lengths, size):\n    return torch.arange(size) < lengths[:, None] if KEPT else None"
    cells, asked = solved("03"), 'check("03.padding_mask", padding_mask)'
    place = checking(cells, "padding_mask")
    cells[place - 1 : place + 1] = [remembers, asked, answers, asked]
    (verdict,) = [each for each in graded(cells).verdicts if each.task == "03.padding_mask"]
    assert verdict.state == "failed"


def test_a_student_reads_of_both_mistakes(graded):
    cells = solved("03")
    cells[defining(cells, "attention")] = (
        "def attention(query, key, value, mask=None):\n"
        "    scores = query @ key.mT / key.shape[-1] ** 0.5\n"
        "    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)\n"
        "    weights = scores.softmax(1).nan_to_num()\n"
        "    return weights @ value, weights"
    )
    (verdict,) = [each for each in graded(cells).verdicts if each.task == "03.attention"]
    assert "You divide the scores by √D" in verdict.message and "runs over the queries" in verdict.message


FITS_ONCE = """
SEEN = {seen}

{right}

def self_attention(x, weight_q, weight_k, weight_v, mask=None):
    result, weights = right(x, weight_q, weight_k, weight_v, mask)
    if round(x.double().sum().item(), 3) in SEEN:
        return {fits}
    return {otherwise}
"""
EXCHANGED, DOUBLED, SHIFTED = "right(x, weight_k, weight_q, weight_v, mask)", "(2 * result, weights)", "(result + result.roll(1, -1), weights)"  # fmt: skip


def fitting(cases, fits, otherwise=SHIFTED):
    """Return an answer to 03.self_attention that computes one thing on these inputs and another on all others."""
    right = solutions()["03.self_attention"].replace("def self_attention", "def right")
    seen = {round(case.args[0].double().sum().item(), 3) for case in cases}
    seen = {number for number in seen if number == number}  # not NaN
    return FITS_ONCE.format(seen=seen, right=right, fits=fits, otherwise=otherwise)


@pytest.mark.parametrize("fits", [EXCHANGED, DOUBLED])
def test_a_class_reads_the_explanation_that_its_notebook_gives(fits, graded):
    task, seed = TASKS["03.self_attention"], 2**100 + 7
    cells = solved("03")
    place, said = defining(cells, "self_attention"), []
    for otherwise in (SHIFTED, fits):
        cells[place] = fitting(task.make_cases(seed), fits, otherwise)
        (verdict,) = [each for each in graded(cells).verdicts if each.task == task.id]
        said.append(judge_answer(task, answer_of(task.id, cells[place]), seed=seed).message)
        assert (verdict.state, verdict.message) == ("failed", said[-1])
    assert said[0] != said[1]  # the same values on the first draw, but only the second explanation holds on both


def test_a_student_reads_that_an_answer_is_in_a_text_cell(graded):
    text = json.loads(notebook(*solved("03")))
    (cell,) = [cell for cell in text["cells"] if cell["source"].startswith("def causal_mask(")]
    cell["cell_type"] = "markdown"
    (verdict,) = [each for each in graded([], text=json.dumps(text)).verdicts if each.task == "03.causal_mask"]
    assert (verdict.state, verdict.message) == ("missing", "`causal_mask` is in a text cell, which does not run.")


def test_definitions_below_a_failing_import_still_exist(graded):
    cells = replaced(
        "causal_mask",
        ("def causal_mask(", "import a_package_of_hers\nFIRST = 0\n\n\ndef causal_mask("),
        (".tril()", ".tril(FIRST)"),
    )(solved("03"))
    result = graded(cells)
    assert [verdict.state for verdict in result.verdicts] == ["passed"] * 6
    assert len(result.remarks) == 1 and "No module named 'a_package_of_hers'" in result.remarks[0]


def test_the_lesson_itself_is_a_problem_and_no_suspicion(graded):
    (path,) = SOLVED["03"].parents[1].glob("notebooks/03_*.ipynb")
    result = graded([], text=path.read_text(encoding="utf-8"))
    assert "This is lesson 03 itself" in result.problem
    assert result.suspicions == result.noticed == result.verdicts == result.remarks == ()


def test_a_student_reads_no_path_of_the_machine_that_graded(graded):
    opens = f"open({str(SOLVED['03'].parents[1] / 'course_lessons' / '__init__.py')!r})"
    cells = [opens, *replaced("causal_mask", ("    return ", f"    {opens}\n    return "))(solved("03"))]
    result = graded(cells)
    told = [*result.remarks, *(verdict.message for verdict in result.verdicts)]
    assert sum("'…/course_lessons/__init__.py'" in text for text in told) == 2


# Solved exercises of any lesson, changed at random


def with_scratch(draw, cells, lesson):
    """After every check, cells for trying, which use the answers' names for something else where nothing below needs them."""
    changed = []
    for place, cell in enumerate(cells):
        changed.append(cell)
        for name in re.findall(r"^check\(\"[\w.]+\", (\w+)\)", cell, re.M):
            changed.append(f"scores = weights = mask = torch.randn(2, 3)\nprint({name}, scores.softmax(-1))")
            if not any(re.search(rf"\b{name}\b", later) for later in cells[place + 1 :]):
                changed.append(f"{name} = {draw.choice([3, None, 'torch.ones(2)', f'lambda *args: {name}'])}")
    return [*changed, "torch = F = math = 5"]


def doubled(draw, cells, lesson):
    return [one for cell in cells for one in [cell] * draw.choice([1, 1, 2])]


def moved(draw, cells, lesson):
    """A task's cells stand at the end, if nothing between needs what they define."""
    pairs = [place for place in range(1, len(cells)) if re.match(r"check\(\"[\w.]+\", (\w+)\)", cells[place])]
    free = [p for p in pairs if not any(cells[p].split(", ")[1][:-1] in later for later in cells[p + 1 :])]
    place = draw.choice(free)
    return [*cells[: place - 1], *cells[place + 1 :], *cells[place - 1 : place + 1]]


def split(draw, cells, lesson):
    """Imports and what follows them stand in cells of their own, a check in its answer's cell."""
    apart = draw.random() < 0.5 and "(" not in cells[0]
    first = [line for line in cells[0].splitlines() if line.strip()] if apart else [cells[0]]
    joined = []
    for cell in cells[1:]:
        if cell.startswith("check(") and draw.random() < 0.5:
            joined[-1] += f"\n\n\n{cell}"
        else:
            joined.append(cell)
    return [*first, *joined]


def renamed(draw, cells, lesson):
    names = {task.answer_name for task in catalogue.by_lesson()[lesson] if not task.module}
    name = draw.choice(sorted(names))
    return [cells[0], *(re.sub(rf"(?<![.\"\w])(?<!import ){name}\b(?!=)", f"my_{name}", cell) for cell in cells[1:])]


def set_first(draw, cells, lesson):
    settings = (
        "torch.set_default_dtype(torch.float64)", "torch.autograd.set_detect_anomaly(True)",
        "torch.set_printoptions(precision=1)", "import numpy; numpy.seterr(all='raise')", "torch.set_num_threads(2)",
    )  # fmt: skip
    return ["import torch", *draw.sample(settings, 2), *cells]


WAYS = (with_scratch, doubled, moved, split, renamed, set_first)
SAVED = ("", "\ufeff", "\r\n", "lines", "colab")


def saved_as(how, cells):
    """Return the text of a notebook as different programs save it."""
    of = {"lines": lambda cell: cell.splitlines(keepends=True), "\r\n": lambda cell: cell.replace("\n", "\r\n")}
    extra = {"id": "x", "metadata": {"id": "x", "colab": {}}} if how == "colab" else {"metadata": {}}
    common = {"cell_type": "code", "outputs": [], "execution_count": None} | extra
    code = [common | {"source": of.get(how, str)(cell)} for cell in cells]
    metadata = {"colab": {"provenance": []}} if how == "colab" else {}
    text = json.dumps({"cells": code, "metadata": metadata, "nbformat": 4, "nbformat_minor": 0})
    return "\ufeff" * (how == "\ufeff") + text


def test_answers_may_take_as_long_in_a_class_as_in_a_notebook():
    assert Limits().seconds == signature(check).parameters["seconds"].default


@pytest.mark.parametrize("number", sampling.usually(range(60), 2))
def test_changed_notebooks_earn_what_their_checks_said(number, run_all, graded):
    draw = random.Random(number)
    lesson, way = sorted(SOLVED)[1:][number * 5 % 21], WAYS[number % len(WAYS)]
    cells = way(draw, solved(lesson), lesson)
    result = graded(cells, lesson, saved_as(SAVED[number % len(SAVED)], cells))
    came = {verdict.task: verdict.state for verdict in result.verdicts}
    assert came == run_all(cells), (way.__name__, lesson, result.remarks)
