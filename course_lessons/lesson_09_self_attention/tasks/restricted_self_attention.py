"""Task 09.restricted_self_attention: each position looks at its neighbourhood, and hubs see all and are seen by all."""

from math import sqrt
from operator import and_, gt, le, lt, matmul, or_, truediv

import torch

from course_lessons.shared.mask_mistakes import masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.scaling_mistakes import scaling_mistakes
from course_lessons.shared.weight_properties import outside_the_values
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "09.restricted_self_attention",
    "restricted self-attention with hubs",
    arguments=("query B×T×D", "key B×T×D", "value B×T×E", "radius", "hub B×T"),
    result="context B×T×E",
    difficulty=3,
    importance=3,
    minutes=20,
    hints=(
        "What is the distance between positions i and j? Compute it for all pairs and compare it with the radius: the result is a T×T mask, the same for all sentences. It does not contain positions beyond the ends of a sentence, so nothing has to be padded. Which rows and which columns does a hub open, in its own sentence?",
        (
            "Take three positions with the queries [1], [1], [1], the keys [0], [1.0986], [0] and the values [4], [8], [16], and a radius of 1. The scores are those of the keys: 0, 1.0986 and 0, with the exponentials 1, 3 and 1. The first position sees positions 0 and 1: its weights are 0.25 and 0.75, and its context is 0.25·4 + 0.75·8 = 7. "
            "The second sees all three, with the weights 0.2, 0.6 and 0.2: 0.2·4 + 0.6·8 + 0.2·16 = 8.8. The third sees positions 1 and 2: 0.75·8 + 0.25·16 = 10. That is without hubs. If the third is a hub, it sees all, and the first sees it too: all three contexts are 8.8."
        ),
        "distance = |i - j| for all pairs of positions, T×T, from torch.arange with an extra axis and without; open, B×T×T, is True where the distance is at most the radius, or the row's position is a hub, or the column's is; scores = query times key transposed, divided by the square root of D; -inf where it is not open; softmax over the last axis; return the weights times value.",
    ),
    partial=USUAL,
)


def _distance(T):
    position = torch.arange(T)
    return (position[:, None] - position).abs()


def _open(near, hub):
    """What each position sees, B×T×T: what is near, all if it is a hub, and every hub."""
    return near | hub[:, :, None] | hub[:, None, :]


@task.property
def contexts_lie_between_the_values_in_reach(case, value):
    """A weighted sum whose weights are not negative and sum to 1 lies between the smallest and the largest value."""
    values, radius, hub = case.args[2:]
    seen = _open(_distance(values.shape[1]) <= radius, hub)
    outside = outside_the_values(value, values, seen).any(2).any(0).nonzero()[:, 0].tolist()
    return (
        f"A context should lie between the smallest and the largest of the values that its position sees; one of yours at position {outside[0]} lies outside. Are the weights of each position at least 0, do they sum to 1, and are they 0 for what is neither at most {radius} away nor connected by a hub?"
        if outside
        else None
    )


def _inputs(draw, B, T, D, E, radius, hubs=0):
    hub = torch.zeros(B, T, dtype=torch.bool)
    for sentence in hub:
        sentence[draw.distinct(hubs, 0, T)] = True
    return (*(draw.numbers(*shape) for shape in ((B, T, D), (B, T, D), (B, T, E))), radius, hub)


@task.cases
def _(draw):
    for size in sizes(B=2, T=7, D=3, E=5):
        T, radius = (size.T, 2) if size.full else (size.T + 3, 1)
        name = f"{count(size.B, 'sentence')} of {T} words, widths D={size.D}, E={size.E}, radius {radius}"
        yield Case(f"{name}, no hubs", _inputs(draw, size.B, T, size.D, size.E, radius), size.full)
        yield Case(f"{name}, a hub", _inputs(draw, size.B, T, size.D, size.E, radius, 1), size.full)
    yield Case("11 words, radius 3", _inputs(draw, 2, 11, 3, 2, 3))
    yield Case("17 words, radius 5, 2 hubs", _inputs(draw, 2, 17, 2, 3, 5, 2))
    yield Case("as many words as features", _inputs(draw, 2, 5, 5, 5, 1))
    yield Case("as many sentences as words", _inputs(draw, 5, 5, 3, 2, 1, 1))
    yield Case("radius 0", _inputs(draw, 2, 5, 3, 7, 0, 1), True, edge=True)
    yield Case("the radius reaches the far end", _inputs(draw, 2, 5, 3, 7, 4), edge=True)
    yield Case("the radius is larger than the sentence", _inputs(draw, 2, 3, 5, 7, 11), True, edge=True)
    yield Case("a single word, widths of 1", _inputs(draw, 1, 1, 1, 1, 1), True, edge=True)
    yield Case("all words are hubs", _inputs(draw, 2, 7, 3, 5, 1, 7), edge=True)
    yield Case("200 words, radius 7, 3 hubs", _inputs(draw, 1, 200, 3, 5, 7, 3), edge=True)
    # Positions 0 and 1 are in each other's reach, and position 2, which is not in that of 0, has a far larger score.
    key, none = torch.tensor([[[-100.0], [-100.5], [100.0], [-99.0]]]), torch.zeros(1, 4, dtype=torch.bool)
    far = (100 * torch.ones(1, 4, 1), key, draw.numbers(1, 4, 2) + 0.25, 1, none)
    yield Case("very large scores, near ±10,000", far, hazard=True)


@task.steps
def _(query, key, value, radius, hub):
    products = yield "the products of query and key", matmul, query, key.mT
    root = yield "√D", sqrt, query.shape[-1]
    scores = yield "the scores", truediv, products, root
    position = torch.arange(query.shape[1])
    ahead = yield "how far to the right", lambda at: at - at[:, None], position
    distance = yield "the distances", torch.abs, ahead
    near = yield "the positions in reach", le, distance, radius
    of_hubs = yield "what the hubs open", lambda hub: hub[:, :, None] | hub[:, None, :], hub
    seen = yield "what is seen", or_, near, of_hubs
    masked = yield "the masked scores", lambda scores, seen: scores.masked_fill(~seen, -torch.inf), scores, seen
    weights = yield "the weights", lambda masked: masked.softmax(-1), masked
    context = yield "the product of weights and value", matmul, weights, value
    return context


# Which positions are in reach

AHEAD, DISTANCES, REACH = "how far to the right", "the distances", "the positions in reach"
HUBS, SEEN = "what the hubs open", "what is seen"
TWO_SIDES = "The neighbourhood has two sides: take the absolute value of the distance."
BOTH_SIDES = "The radius applies to both sides: take the absolute value of the distance."
task.changed_each(
    ("radius_unused", "The radius has no effect: each position sees all the others.", {REACH: lambda distance, radius: distance >= 0}),
    ("radius_exclusive", "A position that is exactly `radius` away is left out. It is in reach: at most `radius` away means `<=`.", {REACH: lt}),
    ("left_side_alone", f"Each position sees itself and the positions on its left. {TWO_SIDES}", {REACH: lambda distance, radius, *, done: (done[AHEAD] <= 0) & (distance <= radius)}),
    ("right_side_alone", f"Each position sees itself and the positions on its right. {TWO_SIDES}", {REACH: lambda distance, radius, *, done: (done[AHEAD] >= 0) & (distance <= radius)}),
    ("no_limit_on_the_left", f"On the left, each position sees all others, however far away. {BOTH_SIDES}", {DISTANCES: left_out}),
    ("no_limit_on_the_right", f"On the right, each position sees all others, however far away. {BOTH_SIDES}", {DISTANCES: torch.neg}),
    (
        "right_end_left_out",
        "The position that is `radius` away on the right is left out, but the one on the left is not. Note that a slice or a range ends before its second number, which has to be i + radius + 1.",
        {REACH: lambda distance, radius, *, done: (done[AHEAD] < radius) & (distance <= radius)},
    ),
    ("itself_left_out", "Only hubs see themselves in your answer. Every position is at distance 0 from itself and therefore within its own reach.", {REACH: lambda distance, radius: (distance <= radius) & (distance > 0)}),
    (
        "radius_as_width",
        "You use half of `radius` on each side. A radius reaches from the position itself to each side: `radius` positions on the left and as many on the right.",
        {"radius": lambda radius: radius // 2},
    ),
    ("far_places_alone", "The mask is inverted: the positions in reach are hidden, and the positions farther away are seen.", {REACH: gt}),
    (
        "circle",
        "The neighbourhood wraps around: positions at one end see positions at the other. Beyond the ends there is nothing; `roll`, circular padding and negative positions come back at the other end.",
        {DISTANCES: lambda ahead: torch.minimum(ahead.abs(), len(ahead) - ahead.abs())},
    ),
)  # fmt: skip


# Hubs

task.changed_each(
    ("hubs_unused", "The hubs have no effect: a hub sees all positions, and all positions see it.", {SEEN: left_out}),
    ("hubs_see_alone", "A hub sees all positions in your answer, but they do not see it. Also open its column: all positions see a hub.", {HUBS: lambda hub: hub[:, :, None]}),
    ("hubs_are_seen_alone", "All positions see a hub in your answer, but it does not see them. Also open its row: a hub sees all positions.", {HUBS: lambda hub: hub[:, None, :]}),
    ("hubs_to_hubs", "Only hubs see a hub that is far away. `&` requires both to be hubs; one is enough: use `|`.", {HUBS: lambda hub: hub[:, :, None] & hub[:, None, :]}),
    ("near_hubs_alone", "You combine reach and hubs with `&`, so that positions without a hub see nothing. A position sees what is near as well as what a hub opens: use `|`.", {SEEN: and_, "the weights": lambda masked: masked.softmax(-1).nan_to_num()}),
    ("near_hubs_alone_nan", "You combine reach and hubs with `&`, so that positions without a hub see nothing, and the softmax of nothing but -inf is NaN. A position sees what is near as well as what a hub opens: use `|`.", {SEEN: and_}),
    ("hubs_of_the_first_sentence", "You use the hubs of the first sentence for all sentences. Each sentence has its own: `hub` has the shape B×T.", {"hub": lambda hub: hub[:1].expand_as(hub)}),
    ("hubs_of_any_sentence", "You treat a hub of one sentence as a hub in all sentences. Each sentence has its own hubs, B×T.", {"hub": lambda hub: hub.any(0, keepdim=True).expand_as(hub)}),
)  # fmt: skip


@task.mistake(
    "If i - radius is negative, your slice begins at a position counted from the end, and it is empty or wrong. Let it begin at max(0, i - radius)."
)
def negative_start(query, key, value, radius, hub):
    seen = hub[:, :, None] | hub[:, None, :]  # B T T
    for i in range(query.shape[1]):
        seen[:, i, i - radius : i + radius + 1] = True
    scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(-1).nan_to_num() @ value


@task.mistake(
    "Beyond the ends of the sentence you pad with zeros, and these take part in the softmax: a key of zeros has the score 0, and exp(0) = 1 is a weight like any other. Leave these positions out, or replace their scores with -inf."
)
def zeros_beyond_the_ends(query, key, value, radius, hub):
    T = query.shape[1]
    at, scores = torch.arange(T), query @ key.mT / query.shape[-1] ** 0.5  # T, B T T
    beyond = (radius - at).clamp(min=0) + (at + radius - (T - 1)).clamp(min=0)  # T: how many zeros each position sees
    open_ = _open(_distance(T) <= radius, hub)
    scores = torch.cat([scores.masked_fill(~open_, -torch.inf), torch.zeros_like(scores[..., :1])], -1)  # B T 1+T
    scores[..., -1] += beyond.log()
    return scores.softmax(-1)[..., :-1] @ value


# Scores and weights

scaling_mistakes(task, "D")
masked_softmax_mistakes(
    task,
    "no_softmax",
    "equal_weights",
    "masked_with_zeros",
    "mask_added",
    "mask_added_inverted",
    "fill_undercut",
    "overflow",
    others="positions",
    softmax="the weights",
    zeros=None,
)
plus_infinity_mistakes(task, others="positions", softmax="the weights", zeros=None)
AFTERWARDS = {"the masked scores": left_out, "the weights": lambda scores, *, done: scores.softmax(-1) * done[SEEN]}
task.changed(
    "masked_after",
    "The mask comes after the softmax over the whole sentence, so the remaining weights no longer sum to 1. Remove the scores of positions that are too far away before the softmax.",
    AFTERWARDS,
)


task.changed(
    "renormalised",
    "The mask comes after a softmax over the whole sentence, and you divide by what is left. If a position out of reach has by far the largest score, nothing is left, and 0/0 is NaN. Mask its score before the softmax.",
    AFTERWARDS | {"the product of weights and value": lambda w, value: w / w.sum(-1, keepdim=True) @ value},
)
for name, sentence, axis in (
    ("softmax_over_queries", "the positions that ask, so they compete for each key", 1),
    ("softmax_over_batch", "the batch, so sentences compete with one another", 0),
):
    said = f"Your softmax runs over {sentence}. Each position spreads its weight over the keys, the last axis."
    task.changed(name, said, {"the weights": lambda masked, axis=axis: masked.softmax(axis).nan_to_num()})
