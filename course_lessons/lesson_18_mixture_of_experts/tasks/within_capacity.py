"""Task 18.within_capacity: who finds a place at the expert that was chosen."""

import torch
import torch.nn.functional as F

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "experts with limited capacity",
    arguments=("chosen B", "experts", "capacity"),
    result="kept B",
    difficulty=3,
    importance=3,
    minutes=15,
    partial=EDGE | SIDE_EFFECT,
)


@task.property
def no_expert_takes_more(case, value):
    """The capacity holds for each."""
    chosen, experts, capacity = case.args
    taken = F.one_hot(chosen, experts)[value.bool()].sum(0)
    full = (taken > capacity).nonzero()
    if len(full):
        return f"Expert {full[0].item()} takes {taken[full[0].item()]} tokens. There is room for {capacity}."
    return None


@task.property
def nobody_is_left_out_for_nothing(case, value):
    """A place that is free is taken."""
    chosen, experts, capacity = case.args
    sent = F.one_hot(chosen, experts)
    free = sent[value.bool()].sum(0) < sent.sum(0).clamp(max=capacity)
    out = (~value.bool() & free[chosen]).nonzero()
    if not len(out):
        return None
    token = out[0].item()
    return f"Token {token} is left out, though its expert, number {chosen[token]}, has room for another."


def _chosen(draw, B, N, capacity):
    """Experts of which one has so many tokens that some have no room, with others in between."""
    many = min(capacity + 2, B)
    chosen = draw.whole(0, N, B)
    chosen[draw.distinct(B, 0, B)[:many]] = draw.whole(0, N, 1)
    return chosen


@task.cases
def _(draw):
    for B, N, capacity in ((3, 2, 1), (4, 2, 2), (5, 3, 1), (6, 3, 2), (7, 2, 3)):
        name = f"{count(B, 'token')}, {N} experts, capacity {capacity}"
        yield Case(name, (_chosen(draw, B, N, capacity), N, capacity))
    yield Case("11 tokens, 5 experts, capacity 2", (_chosen(draw, 11, 5, 2), 5, 2))
    yield Case("13 tokens, 3 experts, capacity 4", (_chosen(draw, 13, 3, 4), 3, 4))
    yield Case("as many tokens as experts", (_chosen(draw, 7, 7, 1), 7, 1))
    yield Case("a capacity as large as the number of experts", (_chosen(draw, 11, 3, 3), 3, 3))
    yield Case("room for all", (draw.whole(0, 3, 7), 3, 7), edge=True)
    yield Case("no room at all", (draw.whole(0, 3, 5), 3, 0), edge=True)
    yield Case("a single expert", (torch.zeros(5, dtype=torch.long), 1, 3), edge=True)
    yield Case("all tokens at one expert", (draw.whole(0, 5, 1).expand(7).clone(), 5, 3), edge=True)
    yield Case("a single token", (draw.whole(0, 3, 1), 3, 1), edge=True)
    yield Case("experts that nobody chose", (draw.whole(0, 3, 7), 11, 2), edge=True)
    yield Case("300 tokens", (draw.whole(0, 7, 300), 7, 40), edge=True)
