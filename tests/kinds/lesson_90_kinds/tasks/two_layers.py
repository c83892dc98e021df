"""Task 90.two_layers: weights in a dict."""

import torch

from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "two layers, their weights in a dict",
    arguments=("x B×D", "weights"),
    result="y B×V",
    difficulty=2,
    importance=3,
    minutes=10,
)


@task.cases
def _(draw):
    for size in sizes(B=2, D=3, H=5, V=7):
        weights = {"in": draw.numbers(size.H, size.D), "out": draw.numbers(size.V, size.H)}
        yield Case(f"{size.B} rows, width {size.D}", (draw.numbers(size.B, size.D), weights), gradient=True)
    double = {"in": draw.numbers(5, 3, dtype=torch.float64), "out": draw.numbers(7, 5, dtype=torch.float64)}
    yield Case("float64 numbers", (draw.numbers(2, 3, dtype=torch.float64), double), edge=True)


@task.oracle
def _(x, weights):
    return torch.einsum("vh,bh->bv", weights["out"], torch.einsum("hd,bd->bh", weights["in"], x).tanh())


@task.mistake()
def linear(x, weights):
    return x @ weights["in"].T @ weights["out"].T


@task.mistake()
def relu(x, weights):
    return (x @ weights["in"].T).relu() @ weights["out"].T


@task.mistake()
def tanh_twice(x, weights):
    return ((x @ weights["in"].T).tanh() @ weights["out"].T).tanh()
