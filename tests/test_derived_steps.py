"""The steps that are read from a solution: what is one, what it is called, and that changes of it change the answer."""

import pytest
import torch

from course_utils.base.errors import CourseError
from course_utils.checks.derived_steps import derived_steps
from course_utils.checks.reference_trace import run_trace, trace_steps

LAYER = """
def layer(x, weight, bias, mask=None):
    hidden = torch.sigmoid(x @ weight.T + bias)
    if mask is not None:
        hidden = hidden.masked_fill(~mask[..., None], 0.0)
    return hidden / hidden.shape[1] ** 0.5, hidden
"""
X, WEIGHT, BIAS = torch.arange(6.0).view(2, 3), torch.ones(4, 3) / 8, torch.arange(4.0)
MASK = torch.tensor([True, False])
ARGUMENTS, RESULTS = ("x B×D", "weight A×D", "bias A", "mask B"), ("scaled B×A", "hidden B×A")


def steps(source):
    return derived_steps(source, {"torch": torch}, ARGUMENTS, RESULTS, {})


def names(function, *args):
    return list(dict.fromkeys(name for name, *_ in trace_steps(function, args)))


def named(source, *args, results=("y",), arguments=(), words=None):
    return names(derived_steps(source, {"torch": torch}, arguments, results, words or {}), *args)


def test_steps_compute_what_the_solution_does():
    space = {"torch": torch}
    exec(LAYER, space)
    for mask in ((), (MASK,)):
        for one, other in zip(
            run_trace(steps(LAYER), (X, WEIGHT, BIAS, *mask), {}), space["layer"](X, WEIGHT, BIAS, *mask), strict=True
        ):
            assert torch.equal(one, other)


def test_operations_on_numbers_are_steps_and_named():
    with_mask = names(steps(LAYER), X, WEIGHT, BIAS, MASK)
    assert with_mask == [
        "the product of x and weight",
        "the sum",
        "the sigmoid",
        "the values with zeros",
        "the square root",
        "the quotient",
    ]


def test_words_of_a_task_come_first():
    words = {"_ + bias": "the scores", "torch.sigmoid(_)": "the units"}
    told = named(LAYER, X, WEIGHT, BIAS, results=RESULTS, arguments=ARGUMENTS, words=words)
    assert told[1:3] == ["the scores", "the units"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return x * x.mean()", ["the mean of x", "the answer"]),
        ("return -(x - x.mean())", ["the mean of x", "the difference", "the answer"]),
        ("return x / x.shape[-1] ** 0.5", ["√D", "the answer"]),
        ("scores = 2 * x\n    scores = scores.masked_fill(x > 0, -torch.inf)\n    return scores.softmax(-1)", ["the scores", "the comparison of x with 0", "the masked scores", "the answer"]),
        ("squared_length = x @ x\n    return squared_length + 1", ["the squared length", "the answer"]),
        ("e = x.exp()\n    return e / e.sum()", ["the exponential of x", "the total", "the answer"]),
        ("return x[x > 0] + x[0]", ["the comparison of x with 0", "the entries with x", "the second entries", "the answer"]),
        ("return x.max(-1, keepdim=True).values + 1", ["the maximum of x", "the answer"]),
        ("total = 0\n    for part in x:\n        total = total + 2 * part\n    return total", ["the product of 2 and part", "the total"]),
        ("while x[0] < 3:\n        x = 2 * x\n    return x + 1", ["the answer"]),
        ("return sum(a * a for a in x) + x[0]", ["the entries", "the answer"]),
    ],
)  # fmt: skip
def test_a_step_has_a_name(body, told):
    assert named(f"def y(x):\n    {body}\n", torch.tensor([1.0, 2.0]), arguments=("x D",), results=("answer",)) == told


FORMS = (  # of solutions, as a contributor may write them
    "x += x.sum(); return x * 2",
    "a = b = x + 1; return a * b",
    "return (y := x + 1) * y",
    "return x.sum(n := 0) + n",
    "with torch.no_grad():\n        y = x * 2\n    return y",
    "try:\n        y = x[7] + 1\n    except IndexError:\n        y = x - 1\n    return y * 2",
    "def inner(t):\n        return t + x\n    return inner(x) * 2",
    "return 2 * x if x.sum() > 0 else x",
    "return x if x.sum() > 99 and (x / 0).sum() > 0 else x + 1",
    "return (0 < x.sum() < 9) + x[-1]",
    "return x[1:] - x[:-1]",
    "return x[::2] * 2 + x[x.sum().long() * 0]",
    "y = x.clone(); y.masked_fill_(y > 1, value=0.0); return y + 1",
    "y = x.masked_fill(x > 1, 1.0); return y * 2",
    "y = x.clone(); y[0] = x[1] + 1; y[1] += x[0]; return y",
    "return torch.einsum('i...,i...->i', x, x) - 1",
    "return torch.where(x > 1, x, torch.zeros_like(x)) + 1",
    "*first, last = x.shape; return x.flatten() * last",
    "n = len(x); m = x.shape[n - n]; return x / m ** 0.5 + n // 2",
    "sizes = {}; sizes['n'] = x.shape[0]; return x * sizes['n']",
    "total = 0\n    for part in x:\n        if part.sum() > 3:\n            break\n        total = total + part\n    else:\n        total = -total\n    return total",
    "while x.sum() < 50:\n        x = 2 * x\n    return x - 1",
    "d = {1: x}; del d[len(d)]; return x - len(d)",
    "_add, _0 = x * 2, x * 3; return _add + _0",
    "return [each + 1 for each in x][0] * x",
    "return max(x.sum().item(), 3) - 1 != 2",
    "return f'{x.sum() + 1:.1f}'",
    "return x if x.sum() > 50 else answer(x * 2)",
    "return sum(each * each for each in x) - x[0]",
    "return (lambda t: t + 1)(x) * 2",
    "torch.manual_seed(0); return torch.rand_like(x) + x",
    "return -(-x)",
    "return " + " + ".join(["x"] * 13),
    "return x" + ".exp().log()" * 12,
)  # fmt: skip


@pytest.mark.parametrize("body", FORMS)
def test_a_solution_of_any_form_gives_the_same_in_steps(body):
    body = body.replace("; ", "\n    ")
    source, space = f"def answer(x, *more, power=2):\n    {body}\n", {"torch": torch}
    exec(source, space)
    function = derived_steps(source, {"torch": torch}, ("x N×D",), ("answer",), {})
    for x in (torch.tensor([1.0, 2.0, 4.0]), torch.arange(6.0).view(3, 2)):
        right, told = space["answer"](x.clone()), run_trace(function, (x.clone(),), {})
        assert torch.equal(right, told) if isinstance(right, torch.Tensor) else right == told
        assert all(name.strip() for name in names(function, x.clone()))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return (x[1:] - x[:-1]).abs()", ["the difference", "the answer"]),
        ("shape = x.shape; return x / shape[0] ** 0.5", ["the square root", "the answer"]),
        ("scores = x * 2; scores += 1; return scores - 1", ["the product of x and 2", "the answer"]),
        ("a = x - x.mean(); b = a - x.sum(); return b / 2 - a", ["the mean of x", "the difference from x", "the total of x", "the second difference", "the quotient", "the answer"]),
        ("return 1 / (x + x.mean()) + x / (x - x.sum())", ["the mean of x", "the sum", "the first quotient", "the total of x", "the difference", "the second quotient", "the answer"]),
        ("return x.masked_fill(x > 1, 1.0) + 1", ["the comparison of x with 1", "the masked x", "the answer"]),
    ],
)  # fmt: skip
def test_a_name_says_nothing_false(body, told):
    body = body.replace("; ", "\n    ")
    x = torch.tensor([1.0, 2.0])
    assert named(f"def f(x):\n    {body}\n", x, arguments=("x D",), results=("answer",)) == told


def test_a_class_has_no_steps():
    with pytest.raises(CourseError, match="a class has no steps"):
        derived_steps("class Layer:\n    pass\n", {}, (), ("y",), {})


def test_two_steps_never_share_a_name():
    body = "return x.exp().log().exp().log().exp()"
    assert len(named(f"def y(x):\n    {body}\n", torch.ones(2))) == 5


def test_a_changed_step_changes_the_answer():
    doubled, hidden = run_trace(steps(LAYER), (X, WEIGHT, BIAS), {"the sigmoid": lambda o, x: 2 * o(*x)})
    assert torch.allclose(hidden, 2 * torch.sigmoid(X @ WEIGHT.T + BIAS)) and torch.allclose(doubled, hidden / 2)


def test_a_step_that_never_comes_leaves_the_answer():
    source = "def y(xs):\n    for x in xs:\n        return x + 1\n    return 0\n"
    assert run_trace(derived_steps(source, {}, (), ("y",), {}), ([],), {}) == 0
    assert not list(trace_steps(derived_steps(source, {}, (), ("y",), {}), ([],)))


def test_a_solution_without_operations_has_no_steps():
    assert derived_steps("def y(x):\n    return [a for a in x]\n", {}, (), ("y",), {}) is None


@pytest.mark.parametrize("expression", ["x - _", "lost"])
def test_words_that_fit_nowhere_are_refused(expression):
    with pytest.raises(CourseError, match="no step of the solution matches"):
        derived_steps(LAYER, {"torch": torch}, ARGUMENTS, RESULTS, {expression: "the difference"})
