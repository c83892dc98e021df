"""Task 90.gated_layer: a module."""

import torch
from torch.nn import functional as F

from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "a gated layer, as a module",
    arguments=("sizes", "weights", "x B×S×D", "mask B×S"),
    result="y B×S×D",
    module=True,
    difficulty=3,
    importance=3,
    minutes=15,
)


@task.cases
def _(draw):
    for size in sizes(B=2, S=3, D=5):
        D = size.D
        weights = {
            "norm.weight": draw.numbers(D),
            "norm.bias": draw.numbers(D),
            "gate.weight": draw.numbers(D, D),
            "gate.bias": draw.numbers(D),
            "inner.weight": draw.numbers(D, D),
            "inner.bias": draw.numbers(D),
        }
        args = ({"width": D}, weights, draw.numbers(size.B, size.S, D) * 1.5, draw.lengths_mask(size.B, size.S))
        yield Case(f"{size.B} sentences of {size.S} words, width {D}", args, gradient=size.full)


@task.oracle
def _(sizes, weights, x, mask):
    normal = F.layer_norm(x, x.shape[-1:], weights["norm.weight"], weights["norm.bias"])
    gate = (x @ weights["gate.weight"].T + weights["gate.bias"]).sigmoid()
    return (x + gate * (normal @ weights["inner.weight"].T + weights["inner.bias"]).tanh()) * mask[..., None]


class Layer(torch.nn.Module):
    """As the exercise gives it."""

    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.gate = torch.nn.Linear(width, width)
        self.inner = torch.nn.Linear(width, width)


@task.mistake()
class NoResidual(Layer):
    def forward(self, x, mask):
        return self.gate(x).sigmoid() * self.inner(self.norm(x)).tanh() * mask[..., None]


@task.mistake()
class NoNorm(Layer):
    def forward(self, x, mask):
        return (x + self.gate(x).sigmoid() * self.inner(x).tanh()) * mask[..., None]


@task.mistake()
def mask_unused(sizes, weights, x, mask):
    return task.oracle_function(sizes, weights, x, torch.ones_like(mask))
