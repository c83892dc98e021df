"""Wrong answers nobody named: every solution with one thing changed must be refused, or be the same function; and most are explained.

A mutant that passes its check is compared with the solution on inputs drawn here, independently of the task's own
cases: sizes from 1 to 6 that may coincide, larger numbers, empty rows. It may pass only if it agrees on all of them.

Of a solution's mutants, of which there are up to several hundred, a few are tried in every run: see `extent`. What is told of
them is looked at in a thorough run, where they are many.
"""

import ast
import copy
import json
import os
import random

import extent
import pytest
import torch
from filelock import FileLock
from right_answers import RIGHT
from test_tasks import TASKS, answers, judge_briefly, solution_of

from course_utils.checks import explain
from course_utils.checks.answer import judge_answer
from course_utils.checks.expected import Expected, as_read
from course_utils.checks.named import alike_value
from course_utils.checks.running.contract import Case, in_precision
from course_utils.checks.running.run import run

CANDIDATE_TASKS = {task.id for task in TASKS.values() if task.candidates}
WORDS_FIRST = {
    "05.last_state": 1,
    "05.reverse_source": 0,
    "08.local_weights": 0,
}  # so many words at least stand first in each row of the mask
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
    tree, found = ast.parse(answers()[task_id]), []
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
    for what, i, change in extent.some("mutants", found, always, 1000):
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


def fuzzed_inputs(task, draw):
    """Random args for a task, made from the shapes in its `arguments`."""
    if task.module:
        return fuzzed_layer(task, draw)
    if task.id == "20.my_attention":  # its sequences have to differ in one thing each
        return task.make_cases(draw.randint(0, 99))[0].args
    dims = {letter: draw.randint(1, 6) for letter in "BTSDEAHNVdPYX"}
    if task.id == "13.cached_step":
        dims["t"], dims["D"] = draw.randint(0, 5), dims["H"] * dims["d"]
    if task.id.startswith("15."):
        dims["L"] = draw.randint(1, 6)
    if task.id.startswith("16."):
        dims |= {letter: draw.randint(1, 6) for letter in "MJ"}
    if task.id.startswith("17."):
        dims["W"] = draw.randint(1, 6)
    if task.id == "17.usage":
        dims["R"] = draw.randint(1, 4)
    if task.id.startswith("19."):
        dims["K"] = draw.randint(1, 6)
    dims["D"] += dims["D"] % 2 if task.id.startswith("11.") else 0  # pairs
    dims["F"] = dims["E"]
    leading = [draw.randint(1, 3) for _ in range(draw.randint(0, 2))]
    generator = torch.Generator().manual_seed(draw.randint(0, 10**9))

    def one(argument):
        name, _, letters = argument.partition(" ")
        special = {
            "temperature": lambda: draw.choice([0.3, 1.0, 2.5]),
            "size": lambda: draw.randint(1, 8),
            "min_count": lambda: draw.randint(1, 3),
            "sentences": lambda: [
                [draw.choice("abcdefg") for _ in range(draw.randint(0, 9))] for _ in range(draw.randint(0, 5))
            ],
            "longest": lambda: draw.randint(2, 12),
            "share": lambda: draw.choice([0.55, 0.7, 0.8, 0.9, 0.93, 0.97, 0.99, 0.999]),
            "lengths": lambda: torch.randint(0, 7, (dims["B"],), generator=generator),
            "target": lambda: torch.randint(0, dims["V"], [dims[x] for x in letters.split("×")], generator=generator),
            "true": lambda: torch.randint(0, dims["L"], [dims[x] for x in letters.split("×")], generator=generator),
            "source": lambda: torch.randint(0, 50, (dims["B"], dims["S"]), generator=generator),
            "bos": lambda: draw.randint(0, 9),
            "sure": lambda: [(draw.randrange(dims["S"]), draw.randrange(dims["T"])) for _ in range(draw.randint(0, 9))],
            "possible": lambda: [
                (draw.randrange(dims["S"]), draw.randrange(dims["T"])) for _ in range(draw.randint(0, 9))
            ],
            "log_probability": lambda: -draw.uniform(0, 30),
            "length": lambda: draw.randint(1, 40),
            "hypotheses": lambda: [
                [draw.choice("ab") for _ in range(draw.choice([0, 6, 9, 14]))] for _ in range(dims["N"])
            ],
            "references": lambda: [[draw.choice("ab") for _ in range(draw.randint(5, 12))] for _ in range(dims["N"])],
            "alpha": lambda: draw.uniform(0, 2),
            "window": lambda: draw.choice([0.5, 1, 2, 3.5]),
            "radius": lambda: draw.randint(0, 7),
            "kind": lambda: draw.choice(["self", "recurrent", "convolution", "restricted"]),
            "n": lambda: draw.choice([draw.randint(2, 40), draw.randint(2, 5) ** draw.randint(1, 5)]),
            "d": lambda: draw.randint(1, 9),
            "k": lambda: draw.randint(2, 5),
            "r": lambda: draw.randint(1, 9),
            "width": lambda: 2 * draw.randint(1, 6),
            "offset": lambda: draw.randint(0, 40),
            "start": lambda: draw.randint(0, 40),
            "eps": lambda: draw.choice([1e-5, 0.1, 1.0]),
            "step": lambda: draw.randint(1, 30),
            "steps": lambda: draw.choice([draw.randint(1, 70), 2 ** draw.randint(0, 9), 2 ** draw.randint(0, 9) + 1]),
            "dilation": lambda: draw.randint(1, 7),
            "warmup": lambda: draw.randint(1, 12),
            "rate": lambda: draw.uniform(0.1, 1),
            "beta1": lambda: draw.uniform(0, 0.9),
            "beta2": lambda: draw.uniform(0, 0.9),
            "smoothing": lambda: draw.uniform(0, 0.5),
            "pad": lambda: draw.randrange(dims["V"]),
            "limit": lambda: draw.randint(6, 30),
            "height": lambda: draw.randint(1, 12),
            "side": lambda: draw.randint(1, 9),
            "scales": lambda: draw.randint(1, 3),
            "std": lambda: draw.uniform(0.05, 2),
            "label": lambda: torch.randint(0, dims["V"], (dims["B"],), generator=generator),
            "location": lambda: 1.9 * torch.rand(dims["B"], 2, generator=generator) - 0.95,
            "heads": lambda: draw.choice([n for n in range(1, 7) if dims["D"] % n == 0]),
        }
        if task.id == "16.position_encoding":
            return draw.randint(1, 9)
        if task.id.startswith("18.") and name in ("k", "experts", "capacity"):
            return {"k": draw.randint(1, dims["N"]), "experts": dims["N"], "capacity": draw.randint(0, 4)}[name]
        if name == "chosen":
            return torch.randint(0, dims["N"], (dims["B"],), generator=generator)
        if name == "memories":
            shape = (dims["B"], dims["M"], dims["D"])
            return [torch.randn(shape, generator=generator) for _ in range(draw.randint(2, 5))]
        if task.id == "13.token_batches" and name == "lengths":
            return [draw.randint(1, 7) for _ in range(draw.randint(0, 9))]
        by_shape = letters and (
            task.id.startswith("08.")
            or (task.id, name)
            in (("14.hybrid_loss", "log_probability"), ("18.mixture_loss", "target"), ("20.delta_memory", "rate"))
        )
        if name in special and not by_shape:
            return special[name]()
        shape = []
        for part in letters.split("×") if letters else []:
            shape += leading if part == "…" else [eval(part.replace("·", "*"), dict(dims))]
        numbers = torch.randn(shape, generator=generator) * draw.choice([0.5, 1, 3])
        if name == "length":
            return torch.randint(1, 9, shape, generator=generator)
        if name == "centre":
            return torch.rand(shape, generator=generator) * dims["S"]
        if name == "uniform":
            return torch.rand(shape, generator=generator)
        if name in ("gates", "probabilities"):  # of gates some are 0, where their logarithm is not taken
            zeros = torch.rand(shape, generator=generator) < (0.3 if task.id in ("18.mix", "18.importance_loss") else 0)
            zeros[:, draw.randrange(shape[1])] = False
            return numbers.masked_fill(zeros, -torch.inf).softmax(-1)
        if name == "gamma":
            return 1 + 4 * torch.rand(shape, generator=generator)
        if name == "weights" and {"uniform", "gamma"} & {*task.names}:  # probabilities, some of them 0
            numbers[torch.rand(shape, generator=generator) < 0.3] = -torch.inf
            numbers[:, draw.randrange(shape[1])] = 0.0
            return numbers.softmax(-1)
        if name == "mask" and task.id in WORDS_FIRST:
            counts = torch.randint(WORDS_FIRST[task.id], dims["S"] + 1, (dims["B"], 1), generator=generator)
            return torch.arange(dims["S"]) < counts
        if name == "mask":
            return torch.rand(shape, generator=generator) < draw.choice([0.2, 0.5, 0.9])
        if name == "labels":
            return (numbers > 0).float()
        if name == "v" and task.id == "13.adam_step":  # a mean of squares
            return numbers.square()
        return numbers * (torch.rand(shape, generator=generator) < 0.9)  # some exact zeros

    return tuple(one(argument) for argument in task.arguments)


def fuzzed_layer(task, draw):
    """Random sizes, weights and inputs for a layer of the Transformer, of which each mask leaves a place in each row."""
    generator = torch.Generator().manual_seed(draw.randint(0, 10**9))
    heads, B, T, S = (draw.randint(1, 3) for _ in range(4))
    width = heads * draw.randint(2, 4)
    sizes = {"width": width, "heads": heads, "hidden": draw.randint(1, 5), "norm_first": draw.random() < 0.5}
    parameters = solution_of(task.id)(**sizes).named_parameters()
    weights = {name: torch.randn(weight.shape, generator=generator) for name, weight in parameters}
    mask = torch.rand(B, S, generator=generator) < 0.6
    mask[:, draw.randrange(S)] = True
    lengths = {"x": S if "mask" in task.names else T, "memory": S}
    names = [name for name in task.names[2:] if name in lengths]
    return sizes, weights, *(torch.randn(B, lengths[name], width, generator=generator) for name in names), mask


def same_function(task, one, other, times=200):
    draw = random.Random(1)
    cases = [Case("fuzzed", fuzzed_inputs(task, draw), module=task.module) for _ in range(times)]
    ones, others = ([as_read(task, *each) for each in zip(cases, run(f, cases, 60), strict=True)] for f in (one, other))
    return all(map(alike_value, ones, others))


FUNCTIONS = [task for task in TASKS.values() if task.id not in CANDIDATE_TASKS]


@pytest.fixture
def judged(tmp_path_factory):
    """A function: a task to what came of its mutants; made once, also where several processes run tests."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    def of(task):
        kept = folder / f"mutants-{task.id}.json"
        with FileLock(f"{kept}.lock"):
            if not kept.exists():
                kept.write_text(json.dumps(judge_mutants(task)))
        return json.loads(kept.read_text())

    return of


def judge_mutants(task):
    """How many mutants are refused, how many of them for a wrong value and how many of these explained; what survives or is told falsely."""
    expected = Expected(task, task.make_cases(0))
    exact = [in_precision(case, torch.float64) for case in task.make_cases(11)]
    other = Expected(task, exact)
    came = {"refused": 0, "wrong": 0, "explained": 0, "survived": [], "false": []}
    for what, source in mutants(task.id, 4):
        mutant = function(task.id, source)
        if mutant is None:
            continue
        judge = judge_answer if extent.NIGHT else judge_briefly
        report = judge(task, mutant, seconds=5, expected=expected)
        if report.state == "passed":
            came["survived"] += [] if same_function(task, solution_of(task.id), mutant) else [f"{what}\n{source}"]
            continue
        came["refused"] += 1
        if report.case and not report.case.edge and report.kind in ("shape", "finite", "value"):
            came["wrong"] += 1
            came["explained"] += bool(report.mistake or report.message != report._finding.sentence)
            if report.relation and not holds_elsewhere(task, mutant, expected, other):
                came["false"].append(f"{task.id}, {what}: {report.relation}")
    return came


@pytest.mark.parametrize("task", FUNCTIONS, ids=lambda task: task.id)
def test_every_mutant_is_refused_or_the_same_function(task, judged):
    came = judged(task)
    assert not came["survived"], "\n\n".join(came["survived"])
    assert came["refused"] >= 1, "too few mutants to prove anything"


@pytest.mark.thorough
@pytest.mark.skipif(not extent.NIGHT, reason="needs all mutants: run `course test --all`")
def test_nine_of_ten_mutants_with_wrong_values_are_explained_and_none_falsely(judged):
    came = [judged(task) for task in FUNCTIONS]
    false = [told for each in came for told in each["false"]]
    wrong, explained = (sum(each[key] for each in came) for key in ("wrong", "explained"))
    assert not false, "\n".join(false)
    assert wrong > 300 and explained >= 0.9 * wrong, f"{explained} of {wrong}"


def holds_elsewhere(task, mutant, expected, other):
    """Whether the relation that is told of a mutant on the expected cases also holds on all other ones, where no rounding hides it."""

    def came_of(cases):
        return [as_read(task, *each) for each in zip(cases, run(mutant, cases), strict=False)]

    guess = explain.find(expected, came_of(expected.cases))
    torch.set_default_dtype(torch.float64)  # of what a mutant makes itself
    try:
        elsewhere = came_of(other.cases)
    finally:
        torch.set_default_dtype(torch.float32)
    ordinary = [place for place, case in enumerate(other.cases) if not case.edge]
    return all(explain._same(guess.at(other.known, i), explain._came(elsewhere[i])) for i in ordinary)


@pytest.mark.parametrize("task", FUNCTIONS, ids=lambda task: task.id)
def test_fuzzed_inputs_fit_their_task_and_tell_functions_apart(task):
    assert same_function(task, solution_of(task.id), solution_of(task.id), 20)
    assert any(not same_function(task, solution_of(task.id), m.function) for m in task.mistakes)


def made_up_search(draw):
    """Args for 07.greedy and 07.beam_search: a decoder made here, and sizes."""
    V, seed = draw.randint(2, 6), draw.randint(0, 10**9)

    def step(prefix):
        generator = torch.Generator().manual_seed(hash((seed, *prefix)) % 2**40)
        return torch.randn(V, generator=generator, dtype=torch.float64).log_softmax(0)

    return step, draw.randint(0, 9), draw.randint(0, V - 1), draw.randint(1, 4), draw.randint(1, 5)


def same_search(task, one, other, times=60):
    draw, places = random.Random(2), [0, 1, 2, 3, 4] if "width" in task.names else [0, 1, 2, 4]
    for _ in range(times):
        args = made_up_search(draw)
        cases = [Case("fuzzed", tuple(args[place] for place in places))]
        a, b = (as_read(task, cases[0], run(f, cases, 5)[0]) for f in (one, other))
        if not alike_value(a, b):
            return False
    return True


@pytest.mark.thorough
@pytest.mark.parametrize("task_id", ["07.greedy", "07.beam_search"])
def test_every_mutant_of_a_search_is_refused_or_the_same_function_and_most_are_explained(task_id):
    task, right = TASKS[task_id], solution_of(task_id)
    expected = Expected(task, task.make_cases(0))
    caught, wrong, explained, survived = 0, 0, 0, []
    for what, source in mutants(task_id):
        mutant = function(task_id, source)
        if mutant is None:
            continue
        report = judge_answer(task, mutant, seconds=5, expected=expected)
        if report.state == "passed":
            survived += [] if same_search(task, right, mutant) else [f"{what}\n{source}"]
            continue
        caught += 1
        if report.case and not report.case.edge and report.kind in ("shape", "finite", "value"):
            wrong += 1
            explained += bool(report.mistake or report.message != report._finding.sentence)
    assert not survived, "\n\n".join(survived)
    assert caught > 15 and explained >= 0.9 * wrong, f"{explained} of {wrong}"
    for answer in RIGHT[task_id]:
        assert same_search(task, right, answer)
    assert not any(
        same_search(task, right, mistake.function) for mistake in task.mistakes if "ties" not in mistake.name
    )


def same_sublayer(one, other, times=60):
    draw = random.Random(3)
    for _ in range(times):
        generator = torch.Generator().manual_seed(draw.randint(0, 10**9))
        B, T, D = (draw.randint(1, 4) for _ in range(3))
        x, gain, bias, weight = (
            torch.randn(shape, generator=generator) for shape in ((B, T, D + 2), (D + 2,), (D + 2,), (D + 2, D + 2))
        )
        args = (x, lambda y, weight=weight: torch.tanh(y @ weight), gain, bias, draw.choice(["pre", "post"]))
        if not torch.allclose(one(*args), other(*args), atol=1e-4, equal_nan=True):
            return False
    return True


@pytest.mark.thorough
def test_every_mutant_of_a_sublayer_is_refused_or_the_same_function_and_most_are_explained():
    task, right = TASKS["12.sublayer"], solution_of("12.sublayer")
    expected, explained, wrong, survived = Expected(task, task.make_cases(0)), 0, 0, []
    for what, source in mutants(task.id):
        report = judge_answer(task, function(task.id, source), seconds=5, expected=expected)
        if report.state == "passed":
            survived += [] if same_sublayer(right, function(task.id, source)) else [f"{what}\n{source}"]
        elif report.case and not report.case.edge and report.kind in ("shape", "finite", "value"):
            wrong += 1
            explained += bool(report.mistake or report.message != report._finding.sentence)
    assert not survived, "\n\n".join(survived)
    assert wrong > 20 and explained >= 0.9 * wrong, f"{explained} of {wrong}"
    assert all(same_sublayer(right, answer) for answer in RIGHT[task.id])
    assert not any(same_sublayer(right, mistake.function) for mistake in task.mistakes if mistake.name != "eps_outside")
