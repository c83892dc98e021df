"""Right answers in many styles, each run in the sandbox with fresh inputs, the solutions on a busy machine: none may fail."""

import functools
import subprocess
import sys
from itertools import zip_longest

import pytest
import sampling
from alternative_solutions import CORRECT, FILES, exercises_of
from submissions import wanted
from tasks import TASKS

from course_utils.checks.catalogue import solutions
from course_utils.checks.expected import Expected
from course_utils.checks.judge import judge
from course_utils.grading.judging.budget import Limits

BUSY = 2  # other processes that each would like a core, beside the tests' own


def styles():
    """Per notebook: its cells, and which task each answers. A lesson's i-th styles share a notebook."""
    for lesson in sorted({task_id[:2] for task_id in CORRECT}):
        ids = [task_id for task_id in CORRECT if task_id.startswith(lesson)]
        counts = [[(task_id, i) for i in range(len(CORRECT[task_id]))] for task_id in ids]
        for i, column in enumerate(zip_longest(*counts)):
            chosen = [pair for pair in column if pair]
            yield f"right {lesson} {i}", [answer_cell(*pair) for pair in chosen], [task_id for task_id, _ in chosen]
    for lesson in sorted({task_id[:2] for task_id in TASKS}):
        ids = [task_id for task_id in TASKS if task_id.startswith(lesson)]
        yield f"solution {lesson}", [solution_imports(lesson), *(solutions()[task_id] for task_id in ids)], ids


def answer_cell(task_id, place):
    """A cell that answers a task with one style; the names that the style's source needs are held apart from the answers'."""
    source = FILES[task_id].read_text(encoding="utf-8")
    return f"styles = {{}}\nexec({source!r}, styles)\n{TASKS[task_id].answer_name} = styles['CORRECT'][{place}]"


def solution_imports(lesson):
    lines = exercises_of(lesson).splitlines()
    return "\n".join(line for line in lines if line.startswith(("import ", "from ")))


STYLES = {name: (cells, ids) for name, cells, ids in styles()}
# Some styles are made of it; a class gives nothing for that, but here the running is tried.
BORROWED = "models.attention"
SOLUTIONS = [name for name in STYLES if name.startswith("solution")]


@pytest.fixture(scope="module")
def busy():
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    yield
    for process in spinning:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def sandbox(sandbox):
    sandbox.limits = Limits(seconds=150, whole=3000)  # time is not what is tried here
    return sandbox


@functools.cache
def known(task, seed):
    """A task's cases and what is expected of them."""
    cases = task.make_cases(seed)
    return cases, Expected(task, cases)


def test_styles_number_at_least_200_and_cover_every_task():
    assert sum(len(ids) for _, ids in STYLES.values()) >= 200
    assert {task_id for _, ids in STYLES.values() for task_id in ids} == set(TASKS)


@pytest.mark.parametrize("name", sampling.usually([name for name in STYLES if name not in SOLUTIONS], 5))
def test_no_right_answer_fails(name, sandbox):
    assert_right(name, sandbox)


@pytest.mark.parametrize("name", sampling.usually(SOLUTIONS, 1))
def test_no_solution_fails_on_a_busy_machine(name, busy, sandbox):
    assert_right(name, sandbox)


def assert_right(name, sandbox):
    cells, ids = STYLES[name]
    # Of a test over candidates a seed changes the order alone, and it asks them thousands of times across a pipe.
    runs = [(TASKS[i], seed) for i in ids for seed in sampling.seeds(1, 2 if TASKS[i].candidates else 20)]
    came = list(
        sandbox.run_notebook(cells, [wanted(task, known(task, seed)[0], offers=(BORROWED,)) for task, seed in runs])
    )
    failed, came = came[: -len(runs)], came[-len(runs) :]
    assert not failed
    for (task, seed), answer in zip(runs, came, strict=True):
        assert answer.state == "outcomes", f"{task.id}, seed {seed}: {answer}"
        report = judge(task, known(task, seed)[0], answer.outcomes, known(task, seed)[1])
        assert report.state == "passed", f"seed {seed}: {report}"


def test_a_wrong_answer_does_fail_here(sandbox):
    task = TASKS["04.dot"]
    cases, truth = known(task, 0)
    (answer,) = sandbox.run_notebook(["def dot(state, hidden):\n    return hidden @ state.mT"], [wanted(task, cases)])
    assert judge(task, cases, answer.outcomes, truth).state == "failed"
