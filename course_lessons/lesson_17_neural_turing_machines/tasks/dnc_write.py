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


def _with_ties(draw, B, R, alike):
    """Of these positions, those with the same number in `alike` are equally free, before the step and after it.

    All numbers are multiples of 1/16, so float32 holds every product exactly: no order of computing unties them.
    """
    N, kinds = len(alike), max(alike) + 1
    while True:
        usage = torch.stack([draw.distinct(kinds, 1, 16) for _ in range(B)]) / 16
        written, reads = draw.whole(0, 3, B, kinds) / 16, draw.whole(0, 3, B, R, kinds) / 16
        free, *gates = [drawn_gates(draw, *shape) for shape in ((B, R), (B,), (B,))]
        if (torch.sort(_filled(usage, written) * _kept(reads, free))[0].diff(dim=1) > APART).all():
            order = torch.tensor(alike)[torch.stack([torch.randperm(N, generator=draw.generator) for _ in range(B)])]
            at_heads = order[:, None].expand(B, R, N)
            tied = usage.gather(1, order), written.gather(1, order), reads.gather(2, at_heads)
            return *tied, free, drawn_weights(draw, B, N), *gates


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
    yield Case("two positions equally free, three others not", _with_ties(draw, 3, 2, (0, 0, 1, 2, 3)), edge=True)
    yield Case("two pairs of positions equally free", _with_ties(draw, 2, 2, (0, 0, 1, 1, 2)), edge=True)
    yield Case("a single position", _inputs(draw, 2, 1, 1), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 2, 5, torch.float64), True, hazard=True)


def _filled(usage, written):
    return usage + written - usage * written


def _kept(reads, free):
    return (1 - free[..., None] * reads).prod(1)


def _before(ordered):
    return torch.cat([torch.ones_like(ordered[:, :1]), ordered[:, :-1].cumprod(1)], 1)


def highest_number_first(usage):
    """Return the sorted usage and its order, in which the last of equal ones comes first."""
    ordered, order = usage.flip(1).sort(dim=1, stable=True)
    return ordered, usage.shape[1] - 1 - order


def first_of_equals(usage):
    """Return, for each of the sorted numbers, the first position that has it."""
    return torch.tensor([[row.index(number) for number in sorted(row)] for row in usage.tolist()])
