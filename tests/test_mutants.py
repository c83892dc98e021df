"""Wrong answers nobody named: every solution with one thing changed must be refused, or be the same function; and most are explained.

A mutant that passes its check is compared with the solution on inputs drawn independently of the task's own cases, in
`fuzzing`: sizes from 1 to 6 that may coincide, larger numbers, empty rows. It may pass only if it agrees on all of them.

Of a solution's mutants, of which there are up to several hundred, a few are tried in every run: see `sampling`. What is told of
them is looked at in a thorough run, where they are many.
"""

import ast
import copy
import functools
import json
import os

import fuzzing
import pytest
import sampling
import torch
from alternative_solutions import CORRECT
from filelock import FileLock
from tasks import TASKS, judge_briefly, solution_of, solutions

from course_utils.checks import explain
from course_utils.checks.expected import Expected, canonicalised
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.match_mistake import agree_in_value
from course_utils.checks.running.contract import Case, in_precision
from course_utils.checks.running.run import marked, run

SWAPPED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.NotEq: ast.Eq, ast.Eq: ast.NotEq,
}  # fmt: skip
RENAMED = {
    "sum": "mean", "mean": "sum", "softmax": "log_softmax", "sigmoid": "tanh", "tanh": "sigmoid", "exp": "abs", "max": "min",
    "mT": "mH", "norm": "sum", "tril": "triu", "sqrt": "square", "masked_softmax": "scaled_dot", "flatten": "squeeze",
}  # fmt: skip


def mutations(node):
    """Functions that each change one thing about a node and say what."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        for value in {-1, 0, 1, 2, 0.5} - {node.value}:
            yield f"{node.value} -> {value}", lambda n, value=value: setattr(n, "value", value)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "not", lambda n: setattr(n, "value", not n.value)
    if isinstance(node, ast.BinOp):
        if type(node.op) in SWAPPED:
            yield "operator", lambda n: setattr(n, "op", SWAPPED[type(n.op)]())
        yield "left only", lambda n: become(n, n.left)
        yield "right only", lambda n: become(n, n.right)
        yield "sides", lambda n: n.__dict__.update(left=n.right, right=n.left)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield "comparison", lambda n: setattr(n, "ops", [SWAPPED[type(n.ops[0])]()])
    if isinstance(node, ast.UnaryOp):
        yield "unary", lambda n: become(n, n.operand)
    if isinstance(node, ast.Attribute) and node.attr in RENAMED:
        yield f"{node.attr} -> {RENAMED[node.attr]}", lambda n: setattr(n, "attr", RENAMED[n.attr])
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "T"):
        yield "not transposed", lambda n: become(n, n.value)
    if isinstance(node, ast.Call):
        if (
            isinstance(node.func, ast.Attribute)
            and not isinstance(node.func.value, ast.Name)
            or (isinstance(node.func, ast.Attribute) and node.func.value.id not in ("torch", "F"))
        ):
            yield "without the call", lambda n: become(n, n.func.value)
        if len(node.args) > 1:
            yield "first two arguments", lambda n: n.args.__setitem__(slice(0, 2), n.args[1::-1])
        if node.args:
            yield "first argument only", lambda n: become(n, n.args[0])
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        yield "order", lambda n: n.elts.reverse()


def become(node, other):
    """Turn a node into another one, in place."""
    node.__class__, node.__dict__ = other.__class__, dict(other.__dict__)


def mutants(task_id, always=1000):
    """(what was changed, source) for mutants of the solution: so many, all of them in a thorough run."""
    tree, found = ast.parse(solutions()[task_id]), []
    names = [a.arg for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for a in f.args.args]
    for i, here in enumerate(ast.walk(tree)):
        changes = list(mutations(here))
        if isinstance(here, ast.Name) and here.id in names and isinstance(here.ctx, ast.Load):
            changes += [
                (f"{here.id} -> {name}", lambda n, name=name: setattr(n, "id", name))
                for name in names
                if name != here.id
            ]
        place = f"{getattr(here, 'lineno', '?')}:{getattr(here, 'col_offset', '?')}"
        found += [(f"{what} at {place}", i, change) for what, change in changes]
    for what, i, change in sampling.some("mutants", found, always, 1000):
        mutated = copy.deepcopy(tree)
        change(list(ast.walk(mutated))[i])
        yield what, ast.unparse(mutated)


def function(task_id, source):
    right = solution_of(task_id)
    space = dict(getattr(right, "forward", right).__globals__)
    try:
        exec(compile(source, "<mutant>", "exec"), space)
    except Exception:
        return None
    return space[TASKS[task_id].answer_name]


def outcomes(task, answer, cases, seconds):
    came = run(answer, cases, seconds, lambda key: marked(task.candidate(key)))
    return [canonicalised(task, *each) for each in zip(cases, came, strict=False)]


def fuzzed(task, times):
    draw = fuzzing.Draw(1)
    return [Case("fuzzed", draw.inputs(task), module=task.module) for _ in range(fuzzing.cases_of(task, times))]


def same_function(task, one, other, times=200):
    ones, others = (outcomes(task, answer, fuzzed(task, times), 60) for answer in (one, other))
    return len(ones) == len(others) == fuzzing.cases_of(task, times) and all(map(agree_in_value, ones, others))


FUNCTIONS = [task for task in TASKS.values() if fuzzing.can_be_drawn(task)]


@pytest.fixture
def judged(tmp_path_factory):
    """A function: a task to what came of its mutants; made once, also where several processes run tests."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    def judged_mutants(task):
        kept = folder / f"mutants-{task.id}.json"
        with FileLock(f"{kept}.lock"):
            if not kept.exists():
                kept.write_text(json.dumps(judge_mutants(task)))
        return json.loads(kept.read_text())

    return judged_mutants


def judge_mutants(task):
    """How many mutants are refused, how many of them for an incorrect value and how many of these explained; what survives or is told falsely."""
    expected = Expected(task, task.make_cases(0))
    came = {"refused": 0, "wrong": 0, "explained": 0, "survived": [], "false": []}
    for what, source in mutants(task.id, 2):
        mutant = function(task.id, source)
        if mutant is None:
            continue
        judge = judge_answer if sampling.NIGHT else judge_briefly
        report = judge(task, mutant, seconds=5, expected=expected)
        if report.state == "passed" and not report.hazard:
            # Where many values are right, the judge's reading of them is all that counts.
            same = task.canonical_function or same_function(task, solution_of(task.id), mutant)
            came["survived"] += [] if same else [f"{what}\n{source}"]
            continue
        came["refused"] += 1
        if report.case and not report.case.edge and report.kind in ("shape", "finite", "value"):
            came["wrong"] += 1
            came["explained"] += bool(report.mistake or report.message != report._finding.text)
            if report.relation and not holds_elsewhere(task, mutant, expected):
                came["false"].append(f"{task.id}, {what}: {report.relation}")
    return came


@pytest.mark.parametrize("task", sampling.usually(FUNCTIONS, 25), ids=lambda task: task.id)
def test_every_mutant_is_refused_or_the_same_function(task, judged):
    came = judged(task)
    assert not came["survived"], "\n\n".join(came["survived"])
    assert came["refused"] >= 1, "too few mutants to prove anything"


@pytest.mark.thorough
@pytest.mark.skipif(not sampling.NIGHT, reason="needs all mutants: run `course test --all`")
def test_four_of_five_mutants_are_explained_and_none_falsely(judged):
    # Of the others, the report names the number or the shape that is wrong: a mutant is any change, and few are a learner's mistake.
    came = [judged(task) for task in FUNCTIONS]
    false = [told for each in came for told in each["false"]]
    wrong, explained = (sum(each[key] for each in came) for key in ("wrong", "explained"))
    assert not false, "\n".join(false)
    assert wrong > 300 and explained >= 0.8 * wrong, f"{explained} of {wrong}"


@functools.cache
def exact(task):
    """What a task expects on other cases, in float64."""
    return Expected(task, [in_precision(case, torch.float64) for case in task.make_cases(11)])


def holds_elsewhere(task, mutant, expected):
    """Whether the relation that is told of a mutant on the expected cases also holds on nearly all other ones.

    It may fail on one of five: where a task makes float32 of whole numbers, or where nothing attends to a word.
    """

    def in_float64(*args):
        torch.set_default_dtype(torch.float64)  # of what a mutant makes itself; the running sets it back
        return mutant(*args)

    other, hypothesis = exact(task), explain.find(expected, outcomes(task, mutant, expected.cases, 10))
    # A class gets its weights as they are given, in float64.
    elsewhere = outcomes(task, mutant if task.module else in_float64, other.cases, 10)
    ordinary = [place for place, case in enumerate(other.cases) if not case.edge]
    known = explain.evaluator_of(other)
    wrong = [i for i in ordinary if not explain._values_agree(hypothesis.at(known, i), explain._value_of(elsewhere[i]))]
    return 5 * len(wrong) <= len(ordinary)


@pytest.mark.parametrize("task", sampling.usually(FUNCTIONS, 7), ids=lambda task: task.id)
def test_fuzzed_inputs_fit_their_task_and_tell_functions_apart(task):
    came = outcomes(task, solution_of(task.id), fuzzed(task, 20), 60)
    assert [outcome.status for outcome in came].count("value") > len(came) / 2, "the solution stops on most of them"
    assert same_function(task, solution_of(task.id), solution_of(task.id), 20)
    assert any(not same_function(task, solution_of(task.id), m.function) for m in task.mistakes)


@pytest.mark.thorough
@pytest.mark.parametrize("task", sampling.quick(FUNCTIONS), ids=lambda task: task.id)
def test_fuzzed_inputs_tell_most_mistakes_from_right_answers(task):
    """Not all: some go wrong on garbage or infinity only, and of two results that are equally good a correct answer may take either."""
    right = solution_of(task.id)
    told = [mistake.name for mistake in task.mistakes if not same_function(task, right, mistake.function, 30)]
    same = [answer for answer in CORRECT[task.id] if same_function(task, right, answer, 30)]
    fault = f"drawn inputs show {len(told)} of {len(task.mistakes)} mistakes to be wrong and {len(same)} of {len(CORRECT[task.id])} right answers to be right"
    assert len(told) > len(task.mistakes) / 2 and len(same) > len(CORRECT[task.id]) / 2, (
        f"{fault}: if the inputs do not fit the task, `INPUTS` in its file in alternative_solutions/ says what to draw"
    )
