"""Task 18.within_capacity: who finds a place at the expert that was chosen."""

from operator import le, lt

import torch
import torch.nn.functional as F

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "18.within_capacity",
    "experts with limited capacity",
    arguments=("chosen B", "experts", "capacity"),
    result="kept B",
    difficulty=3,
    importance=3,
    minutes=15,
    hints=(
        "For each token, the question is how many tokens before it went to the same expert. A running sum answers that for all tokens at once: one column per expert, with a 1 in it for each token that was sent there, added up along the batch.",
        "Take five tokens that were sent to the experts 2, 0, 2, 2 and 0, and a capacity of 2. The counts so far, including the token itself, are 1, 1, 2, 3 and 2. Only the 3 is above the capacity, so the fourth token is left out: True, True, True, False, True.",
        "sent = a one-hot row for each token, B×N; so_far = its running sum along the batch, axis 0; take the number in its own expert's column from each row, with gather; it counts the token itself, so compare it with <= capacity.",
    ),
    partial=EDGE | SIDE_EFFECT,
)


@task.property
def no_expert_takes_more(case, value):
    """The capacity holds for each."""
    chosen, experts, capacity = case.args
    taken = F.one_hot(chosen, experts)[value.bool()].sum(0)
    full = (taken > capacity).nonzero()
    return (
        f"Expert {full[0].item()} takes {taken[full[0].item()]} tokens. There is room for {capacity}."
        if len(full)
        else None
    )


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


@task.steps
def _(chosen, experts, capacity):
    sent = yield "the one-hot experts", F.one_hot, chosen, experts
    running = yield "the running counts", lambda sent: sent.cumsum(0), sent
    so_far = yield "each token's own count", _own, running, chosen
    kept = yield "the comparison with the capacity", le, so_far, capacity
    return kept


def _own(counts, chosen):
    return counts.gather(1, chosen[:, None])[:, 0]


task.changed_each(
    # How places are counted
    ("one_too_few", "Each expert takes one token too few: your count includes the token itself, and you require less than the capacity. Compare with <=.", {"the comparison with the capacity": lt}),
    ("one_too_many", "Each expert takes one token too many: you count only the tokens before each one and compare with <=. Compare with <, or also count the token itself.", {"the comparison with the capacity": lambda so_far, capacity: so_far - 1 <= capacity}),
    ("last_ones_kept", "You keep the last tokens of each expert. Places go to the first tokens, in the order of the batch.", {"the running counts": lambda sent: sent.flip(0).cumsum(0).flip(0)}),
    ("all_or_none", "If an expert has more tokens than room, you leave out all of them. The first tokens get a place: count how many have arrived so far, not how many there are in total.", {"the running counts": lambda sent: sent.sum(0).expand_as(sent)}),
    ("running_sum_along_the_experts", "Your running sum runs along the experts, axis 1, so it counts only the token itself. It should run along the batch, axis 0.", {"the running counts": lambda sent: sent.cumsum(1)}),
    ("first_of_the_batch", "You keep the first tokens of the whole batch, whatever expert they were sent to. Each expert has its own capacity: count the tokens of each expert separately.", {"each token's own count": lambda running, chosen: running.sum(1)}),
    ("first_of_the_batch_by_all_places", "You keep as many tokens from the start of the batch as all experts together have room for. Each expert has its own capacity: count the tokens of each expert separately.", {"result": lambda kept, *, experts, capacity: torch.arange(len(kept)) < experts * capacity}),
    ("any_expert_with_room", "You keep a token as long as any expert has room. Look only at the count of the token's own expert: use gather to select it.", {"each token's own count": lambda running, chosen: running.amin(1)}),
    # Sorting
    ("left_in_sorted_order", "You sort the tokens by their expert and leave the result in that order. Token b of the result has to be token b of the batch: restore the order at the end.", {"chosen": lambda chosen: chosen.sort(stable=True)[0]}),
    ("sorted_once_more", "You sort the tokens by their expert, and to go back you apply the same order once more. Use its own argsort, which undoes it, or write with the order as an index: kept[order] = …", {"chosen": lambda chosen: chosen.sort(stable=True)[0], "result": lambda kept, *, chosen: kept[chosen.argsort(stable=True)]}),
)  # fmt: skip
