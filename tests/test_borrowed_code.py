"""Which of the course's own code an answer can reach where a class is graded: what its task offers, and no answer to any task.

Not here: breaking out of the sandbox (`test_grading_attacks.py`), and what a task offers in a notebook (`test_grading_harm.py`).
"""

import ast
import importlib
import json

import pytest
import sampling

from course_utils.checks import catalogue
from course_utils.checks.judge_answer import judge_answer
from course_utils.grading.ingest.class_settings import Settings
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.offered_source import sources
from course_utils.grading.reports.points import score
from course_utils.grading.sandbox import policy, stand_ins

needs_sandbox = pytest.mark.skipif(
    not policy.available().safe, reason=f"this machine cannot lock a learner's code in (it gives: {policy.available()})"
)
LESSONS = list(catalogue.by_lesson())
TASKS = {task.id: task for of in catalogue.by_lesson().values() for task in of}

# Finds whatever of the course has the name of an answer, when the answer is called, by any way that does not need to know the task.
PREAMBLE = """
import functools, gc, importlib, linecache, os, sys, types
import course_utils
HERE = os.path.dirname(course_utils.__file__)
def modules():
    for room in ("models", "translation", "training", "data", "figures", "lessons", "checks", "learner"):
        for name in FILES[room]:
            try:
                importlib.import_module(f"course_utils.{room}.{name}")
            except Exception:
                pass
            path = os.path.join(HERE, room, name + ".py")
            for read in (lambda: open(path).read(), lambda: "".join(linecache.getlines(path))):
                try:
                    names = {"__name__": "stolen"}
                    exec(read(), names)
                    yield types.SimpleNamespace(**names)
                except Exception:
                    pass
    yield from [module for name, module in list(sys.modules.items()) if name.startswith("course_utils")]
@functools.cache
def ways(name):
    found = [vars(module)[name] for module in modules() if name in vars(module)]
    return found + [o for o in gc.get_objects() if isinstance(o, types.FunctionType) and o.__name__ == name and o.__module__ != "__main__"]
def borrowed(name):
    def answer(*args):
        getattr(sys, "setpro" + "file")(None)
        for way in ways(name):
            try:
                return way(*args)
            except Exception:
                pass
        raise LookupError
    return answer
"""


@pytest.fixture(scope="module")
def grader(make_grader):
    return make_grader(2**100, Limits(seconds=20, whole=300))


@pytest.fixture
def grade(grader, tmp_path):
    def one(lesson, *cells):
        path = tmp_path / f"{lesson}.ipynb"
        code = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
        path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": code}))
        return grader.grade(Found("ada", path, path.name), "00" * 32)

    return one


def by_name(lesson):
    """A cell whose answers are what of the course has their names."""
    files = {room: [path.stem for path in (policy.PACKAGE / room).glob("*.py")] for room in ("models", "translation", "training", "data", "figures", "checks", "learner")}  # fmt: skip
    answers = [task.answer_name for task in catalogue.by_lesson()[lesson]]
    return "\n".join(
        [f"FILES = {files}", PREAMBLE, *(f"def {n}(*args): return borrowed({n!r})(*args)" for n in answers)]
    )


@needs_sandbox
@pytest.mark.parametrize("lesson", sampling.usually(LESSONS, 1))
def test_a_search_for_answers_by_name_earns_nothing_but_a_flag(grade, lesson):
    result = grade(lesson, by_name(lesson))
    assert not [verdict.task for verdict in result.verdicts if verdict.state == "passed"]
    assert sum(points.points for points in score(result, Settings())) == 0
    assert any("looks through the modules" in reason for reason in result.suspicions)


@needs_sandbox
def test_an_answer_that_ends_the_watch_is_told(grade):
    code = "import sys\ndef causal_mask(size):\n    getattr(sys, 'setpro' + 'file')(None)\n    return torch.ones(size, size).tril().bool()"
    assert "causal_mask ended the watch over what it calls" in grade("03", "import torch", code).suspicions
    honest = code.replace("    getattr(sys, 'setpro' + 'file')(None)\n", "")
    assert grade("03", "import torch", honest).suspicions == ()


@needs_sandbox
def test_a_cell_may_use_what_its_lesson_offers(grade):
    """Before an answer runs, too; and what is below that in the cell is there for all answers."""
    given = "import torch\nfrom course_utils.models.attention import attention as reference"
    used = "ones = torch.ones(1, 2, 3)\nassert reference(ones, ones, ones)[0].shape == (1, 2, 3)\nTRUE = True"
    causal = "def causal_mask(size):\n    return torch.ones(size, size).tril().bool() & TRUE"
    copied = "assert catch_wrong_attention(reference)\nkept = {'reference': reference}"
    result = grade("03", given, used, causal, catalogue.solutions()["03.catch_wrong_attention"], copied)
    states = {verdict.task: verdict.state for verdict in result.verdicts}
    assert states["03.causal_mask"] == states["03.catch_wrong_attention"] == "passed"
    assert result.remarks == () and result.suspicions == ()


@needs_sandbox
@pytest.mark.parametrize("lesson", sampling.usually(LESSONS, 1))
def test_a_solution_is_no_reason_for_a_look(grade, lesson):
    """Its imports are the course's own."""
    (path,) = (policy.PACKAGE.parent / "solutions").glob(f"{lesson}_*.ipynb")
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    result = grade(lesson, *("".join(cell["source"]) for cell in cells))
    assert result.suspicions == () and result.remarks == ()


@needs_sandbox
def test_a_library_that_answers_a_task_is_not_there(grade):
    answer = "def bleu(hypotheses, references):\n    from sacrebleu.metrics import BLEU\n    return BLEU().corpus_score(hypotheses, [references]).score"
    verdicts = {verdict.task: verdict for verdict in grade("07", "import torch", answer).verdicts}
    assert verdicts["07.bleu"].state == "error" and "sacrebleu" in verdicts["07.bleu"].message


@needs_sandbox
def test_a_look_into_functions_given_to_an_answer_is_flagged(grade):
    answer = "def causal_mask(size):\n    return size.__closure__"
    assert any("functions that it is given" in reason for reason in grade("03", "import torch", answer).suspicions)


@needs_sandbox
def test_code_offered_to_one_task_answers_no_other_task(grade):
    given = "import torch\nfrom course_utils.models.attention import attention as reference"
    result = grade("03", given, "attention = reference", catalogue.solutions()["03.catch_wrong_attention"])
    verdicts = {verdict.task: verdict for verdict in result.verdicts}
    assert verdicts["03.attention"].state == "error" and "not at hand" in verdicts["03.attention"].message
    assert verdicts["03.catch_wrong_attention"].state == "passed"


@needs_sandbox
def test_the_cells_of_each_exercise_run(sandbox, monkeypatch):
    monkeypatch.setattr(sandbox, "limits", Limits(seconds=20, whole=100))
    for path in sorted((policy.PACKAGE.parent / "exercises").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        assert list(sandbox.run_notebook(code, [])) == [], path.name


@needs_sandbox
def test_the_sandbox_runs_this_copy_of_the_course(sandbox):
    (said,) = sandbox.run_notebook(["import course_utils\nraise ValueError(course_utils.__file__.split('/'))"], [])
    assert said == f"Cell 1 failed: ValueError: {str(policy.PACKAGE / '__init__.py').split('/')}"


def defined(text):
    return {node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


@pytest.mark.parametrize("task_id", [task.id for task in TASKS.values() if task.offers])
def test_offers_of_a_task_answer_neither_it_nor_a_later_one(task_id):
    task = TASKS[task_id]
    came = set().union(*map(defined, sources(task.offers).values()))
    for offer in task.offers:
        assert offer.rpartition(".")[2] in came or offer in sources(task.offers)
    for other in catalogue.by_lesson()[task_id[:2]]:
        assert set(task.offers) <= set(other.offers) or set(other.offers) <= set(task.offers), (
            "its cells would run again"
        )
        if set(task.offers) <= set(other.offers):
            assert other.answer_name not in came


def test_sandboxed_functions_named_like_a_task_do_not_answer_it():
    names, compared = {task.answer_name: task for task in TASKS.values()}, 0
    for part in policy.PUBLIC:
        for path in (policy.PACKAGE / part).rglob("*.py"):
            for name in defined(path.read_text(encoding="utf-8")) & set(names):
                module = importlib.import_module(
                    ".".join(path.relative_to(policy.PACKAGE.parent).with_suffix("").parts)
                )
                assert judge_answer(names[name], getattr(module, name)).state != "passed", f"{module.__name__}.{name}"
                compared += 1
    public = {
        path.relative_to(policy.PACKAGE).parts[0]
        for part in policy.PUBLIC
        for path in (policy.PACKAGE / part).rglob("*.py")
    }
    assert not public & set(stand_ins.WITHHELD_PACKAGES)
