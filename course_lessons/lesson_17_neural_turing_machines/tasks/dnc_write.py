"""Task 17.dnc_write: where a differentiable neural computer writes: usage, allocation, and the choice between it and content."""

from operator import add, mul, sub

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_gates, drawn_weights, shares
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

APART = 1e-3  # between the usage of any two positions of a row: rounding must not change their order

task = Task(
    "17.dnc_write",
    "where a differentiable neural computer writes",
    arguments=(
        *("usage B×N", "written B×N", "reads B×R×N", "free B×R"),
        *("content B×N", "allocate B", "enter B"),
    ),
    result=("usage B×N", "weights B×N"),
    difficulty=4,
    importance=4,
    minutes=30,
    hints=(
        "First update the usage: the last write filled a share of what was free, and each read head frees what it read, to the extent that its gate is open. The new usage decides the allocation: go from the freest position to the fullest, and assign each its free share of what is left.",
        "Take the usage [0.5, 1], last write weights [0.5, 0], and one head that read with [0, 0.5] and a gate of 1. Writing makes the usage [0.75, 1], and freeing leaves 1 and 0.5 of it: [0.75, 0.5]. The second position is the freest: it gets 1 - 0.5 = 0.5, and the first gets (1 - 0.75)·0.5 = 0.125 of the weight. With content weights [1, 0], an allocation gate of 0.5 and a write gate of 0.5, the weights are 0.5·(0.5·0.125 + 0.5·1) = 0.28125 and 0.5·0.5·0.5 = 0.125.",
        "filled = usage + written - usage·written; kept = product over the heads of (1 - gate·weights); usage = filled·kept; sort it, the smallest first, with a stable sort; before = running product of the sorted usage, shifted by one and starting with 1; scatter (1 - sorted)·before back to the original positions; mix with content by the allocation gate; multiply by the write gate.",
    ),
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


@task.steps
def _(usage, written, reads, free, content, allocate, enter):
    filled = yield "the usage after writing", _filled, usage, written
    kept = yield "what the heads leave", _kept, reads, free
    new = yield "the new usage", mul, filled, kept
    order = yield "the order of the positions", lambda new: new.argsort(dim=1, stable=True), new
    ordered = yield "the ordered usage", lambda new, order: new.gather(1, order), new, order
    before = yield "the products of usage before", _before, ordered
    room = yield "the free shares", sub, 1, ordered
    shares = yield "the ordered shares", mul, room, before
    allocation = yield "the allocated shares", lambda s, order: torch.zeros_like(s).scatter(1, order, s), shares, order
    one = yield "the part by allocation", mul, allocate[:, None], allocation
    left = yield "the share of content", sub, 1, allocate[:, None]
    other = yield "the part by content", mul, left, content
    mixed = yield "the mix of both", add, one, other
    weights = yield "the new weights", mul, enter[:, None], mixed
    return new, weights


def _filled(usage, written):
    return usage + written - usage * written


def _kept(reads, free):
    return (1 - free[..., None] * reads).prod(1)


def _before(ordered):
    return torch.cat([torch.ones_like(ordered[:, :1]), ordered[:, :-1].cumprod(1)], 1)


task.changed_each(
    # The usage
    ("product_not_subtracted", "You only add the usage and the write weights, so a position can be more than full. Subtract the product of the two: only the share that was free can be filled.", {"the usage after writing": add}),
    ("free_gates_inverted", "Your free gates are the wrong way round: a gate of 1 frees what its head has read, and a gate of 0 frees nothing.", {"what the heads leave": lambda reads, free: _kept(reads, 1 - free)}),
    ("last_head_only", "Only the last read head frees anything. In a loop over the heads, this happens if each step starts from scratch: multiply by what the previous heads left.", {"what the heads leave": lambda reads, free: 1 - free[:, -1:] * reads[:, -1]}),
    ("kept_sum", "You add up what the heads free and subtract the sum from 1. When two heads free the same position, more than all of it may be freed. Take the product over the heads of 1 minus what each frees.", {"what the heads leave": lambda reads, free: 1 - (free[..., None] * reads).sum(1)}),
    ("freed_before_writing", "You free first and fill afterwards, so what the last step wrote is not freed. Writing comes first, and what the heads leave is a factor of the whole.", {"the usage after writing": lambda usage, written, *, reads, free, right: right(usage * _kept(reads, free), written), "the new usage": left_out}),
    # The allocation
    ("old_usage_for_allocation", "Your new usage is correct, but you allocate by the old one, so a position that has just been freed does not count as free. Use the new usage.", {"the order of the positions": lambda new, *, usage, right: right(usage), "the ordered usage": lambda new, order, *, usage, right: right(usage, order)}),
    ("fullest_first", "You start with the fullest position. Sort the usage with the smallest first, so that the freest position comes first.", {"the order of the positions": lambda usage: usage.argsort(dim=1, descending=True, stable=True)}),
    ("product_with_itself", "Your running product includes the position itself, so a free one gets a weight of 0. Only the positions before it count: shift the product by one and start with 1.", {"the products of usage before": lambda ordered: ordered.cumprod(1)}),
    ("left_in_sorted_order", "You leave the allocation in the sorted order, so the first position always gets the weight of the freest one. Put each weight back where it belongs, for instance with scatter.", {"the allocated shares": left_out}),
    ("sorted_once_more", "To put the weights back, you gather with the order that sorted the usage, which shuffles them once more. Use scatter with this order, or gather with its own argsort.", {"the allocated shares": lambda shares, order: shares.gather(1, order)}),
    # The gates
    ("allocation_gate_inverted", "Your allocation gate is the wrong way round: a gate of 1 writes to free positions, a gate of 0 to the positions found by content.", {"allocate": lambda allocate: 1 - allocate}),
)  # fmt: skip
