"""Task 22.swiglu: a gated feed-forward network (Shazeer 2020, equation 6), with weights as nn.Linear keeps them."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "a gated feed-forward network",
    arguments=("x …×D", "weight_gate F×D", "weight_up F×D", "weight_down D×F"),
    result="y …×D",
    difficulty=2,
    importance=3,
    minutes=10,
    partial=USUAL,
)


def _inputs(draw, *shape, F, dtype=torch.float32):
    D = shape[-1]
    x, gate, up, down = (draw.numbers(*each, dtype=dtype) for each in (shape, (F, D), (F, D), (D, F)))
    return x + 0.25 * (x == 0), *(weight + 0.25 * (weight == 0) for weight in (gate, up)), down + 0.25 * (down == 0)


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, D=5, F=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'position')}, width {size.D}, {size.F} gates"
        yield Case(name, _inputs(draw, size.B, size.T, size.D, F=size.F), size.full)
    yield Case("as many gates as the width", _inputs(draw, 2, 3, 4, F=4))
    yield Case("fewer gates than the width", _inputs(draw, 2, 3, 5, F=2))
    yield Case("a single vector, without an axis of positions", _inputs(draw, 5, F=7), True, edge=True)
    yield Case("heads of positions, of shape (2, 3, 2, 5)", _inputs(draw, 2, 3, 2, 5, F=3), edge=True)
    yield Case("a single gate", _inputs(draw, 2, 3, 5, F=1), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 3, 5, F=7, dtype=torch.float64), True, hazard=True)
    x, *rest = _inputs(draw, 2, 3, 5, F=7)
    yield Case("numbers near 1,000", (1000 * x, *rest), hazard=True)
