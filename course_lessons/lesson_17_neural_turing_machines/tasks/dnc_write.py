"""Task 17.dnc_write: where a differentiable neural computer writes: usage, allocation, and the choice between it and content."""

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_gates, drawn_weights, shares
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

APART = 1e-3  # between the usage of any two positions of a row: rounding must not change their order

task = Task(
    __name__,
    "where a differentiable neural computer writes",
    arguments=(*("usage B×N", "written B×N", "reads B×R×N", "free B×R"), *("content B×N", "allocate B", "enter B")),
    result=("usage B×N", "weights B×N"),
    difficulty=4,
    importance=4,
    minutes=30,
    partial=USUAL,
)


@task.property
def closed_gates_free_nothing(case, value):
    """Without free gates, no usage falls."""
    usage, _, _, free, *_ = case.args
    if free.any() or (value[0] > usage - 1e-5).all():
        return None
    return "If all free gates are 0, nothing is freed, so no position's usage should decrease. In your result one does."


def _inputs(draw, B, R, N, dtype=torch.float32):
    """Where the allocation looks, no two positions of a row are equally free, whether or not the heads free anything."""
    while True:
        usage = torch.stack([draw.distinct(N, 1, 2 * N + 6) for _ in range(B)]).to(dtype) / (2 * N + 6)
        written, reads = shares(draw, B, N, dtype=dtype), shares(draw, B, R, N, dtype=dtype)
        gates = [drawn_gates(draw, *shape, dtype=dtype) for shape in ((B, R), (B,), (B,))]
        filled = _filled(usage, written)
        if all((new.sort(1)[0].diff(dim=1) > APART).all() for new in (filled, filled * _kept(reads, gates[0]))):
            return usage, written, reads, gates[0], drawn_weights(draw, B, N, dtype), *gates[1:]


@task.cases
def _(draw):
    for B, R, N in ((1, 1, 2), (1, 1, 3), (2, 1, 3), (1, 2, 4), (3, 2, 5)):
        name = f"{count(B, 'row')}, {count(R, 'read head')}, {N} positions"
        yield Case(name, _inputs(draw, B, R, N), N == 5)
    yield Case("2 rows, 3 read heads, 7 positions", _inputs(draw, 2, 3, 7), True)
    yield Case("as many rows as positions and as read heads", _inputs(draw, 4, 4, 4))
    usage, written, reads, free, *others = _inputs(draw, 3, 2, 5)
    yield Case("free gates of 0", (usage, written, reads, 0 * free, *others), True)
    one = torch.eye(5)[draw.whole(0, 5, 3, 2)]
    yield Case("heads that free one position entirely", (usage, written, one, 1 + 0 * free, *others), edge=True)
    yield Case("an empty memory", (0 * usage, 0 * written, reads, free, *others), edge=True)
    yield Case("a full memory", (1 + 0 * usage, written, reads, 0 * free, *others), edge=True)
    yield Case("a single position", _inputs(draw, 2, 1, 1), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 2, 5, torch.float64), True, hazard=True)


def _filled(usage, written):
    return usage + written - usage * written


def _kept(reads, free):
    return (1 - free[..., None] * reads).prod(1)


def _before(ordered):
    return torch.cat([torch.ones_like(ordered[:, :1]), ordered[:, :-1].cumprod(1)], 1)
