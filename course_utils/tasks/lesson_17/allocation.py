"""Task 17.allocation: weights for writing that go to the freest places."""

from operator import mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.shares import USUAL

task = Task(
    "17.allocation",
    "where there is room",
    arguments=("usage B×N",),
    result="weights B×N",
    difficulty=4,
    importance=4,
    minutes=20,
    hints=(
        "Go through the places from the freest to the fullest, and give away a weight of 1. The first place takes as much as it has room for, 1 minus its usage. What is left over after it is its usage, and the next place takes its share of that. At the end, each share goes to the place that it belongs to, not to where that place stood in the row of sorted ones.",
        "Take the usage [0.5, 0.8, 0.25]. From the freest to the fullest the places are 2, 0, 1. Place 2 gets 1 - 0.25 = 0.75, and 0.25 is left over. Place 0 gets (1 - 0.5)·0.25 = 0.125, and 0.25·0.5 = 0.125 is left over. Place 1 gets (1 - 0.8)·0.125 = 0.025. In the order of the places the weights are [0.125, 0.025, 0.75].",
        "ordered, order = usage sorted along the places, stable, smallest first; before = running product of ordered, moved on by one place, with 1 at the beginning; shares = (1 minus ordered) times before; put shares[b, j] at place order[b, j] of row b (scatter along axis 1, or gather with the order's own argsort).",
    ),
    partial=USUAL
    | {
        "last_of_equal_ones": (0.75, "right where no two places are equally free."),
        "equal_ones_alike": (0.5, "right where no two places are equally free."),
        "equal_ones_share": (0.5, "right where no two places are equally free."),
        "divided_by_itself": (0.5, "right where no place is entirely free."),
        "divided_by_almost_itself": (0.5, "right where no place is entirely free."),
        "through_logarithms": (0.5, "every value is right, and its gradient where no place is entirely free."),
    },
)


@task.property
def weights_sum_to_1_at_most(case, value):
    """What is given away is 1, less what no place had room for."""
    sums = value.double().sum(1)
    if (value > -1e-5).all() and (sums < 1 + 1e-4).all():
        return None
    if (value <= -1e-5).any():
        return f"No weight is negative. The smallest of yours is {value.min():.4g}."
    return f"A row sums to 1 at most, since no more than 1 is given away. One of yours sums to {sums.max():.4g}."


@task.property
def a_full_place_gets_nothing(case, value):
    """It has no room."""
    (usage,) = case.args
    full = (usage == 1) & (value.abs() > 1e-5)
    if not full.any():
        return None
    row, place = divmod(int(full.int().argmax()), usage.shape[1])
    return f"A place whose usage is 1 has no room and gets the weight 0. Place {place} of row {row} gets {value[row, place]:.4g}."


@task.property
def the_first_of_equal_ones_comes_first(case, value):
    """It has the first choice, and gets as much as the next one or more."""
    (usage,) = case.args
    earlier = torch.ones(usage.shape[1], usage.shape[1]).triu(1).bool()
    wrong = (usage[..., None] == usage[:, None]) & earlier & (value[..., None] < value[:, None] - 1e-5)
    if not wrong.any():
        return None
    row, first, other = wrong.nonzero()[0].tolist()
    return f"Places {first} and {other} of row {row} are equally free, and your later one gets more. Of equally free places the first one comes first: a stable sort keeps their order, but topk may not."


def _usage(draw, B, N, dtype=torch.float32):
    """Usage between 0 and 1, no two places of a row alike, and none free or full; small ones are not in order already."""
    rows = []
    for _ in range(B):
        row = draw.distinct(N, 1, max(8, 3 * N // 2 + 1))
        if N > 1 and (row.argsort() == torch.arange(N)).all():
            row = row.flip(0)
        if N > 2 and (row.argsort().argsort() == row.argsort()).all():  # a sorting that is its own inverse
            row = row.sort()[0].roll(1)
        rows.append(row)
    return torch.stack(rows).to(dtype) / max(8, 3 * N // 2 + 1)


@task.cases
def _(draw):
    for B, N in ((1, 2), (2, 2), (1, 3), (2, 4), (3, 5)):
        yield Case(f"{count(B, 'row')}, {N} places", (_usage(draw, B, N),), N == 5)
    yield Case("2 rows, 7 places", (_usage(draw, 2, 7),), True)
    yield Case("as many rows as places", (_usage(draw, 5, 5),))
    yield Case("7 rows, 3 places", (_usage(draw, 7, 3),))
    yield Case("a single place", (_usage(draw, 2, 1),), True, edge=True)
    some = _usage(draw, 3, 5)
    free = some.clone()
    free[:, draw.whole(0, 5, 1)[0]] = 0
    yield Case("a free place in each row", (free,), True, edge=True)
    full = some.clone()
    full[:, draw.whole(0, 5, 1)[0]] = 1
    yield Case("a full place in each row", (full,), True, edge=True)
    equal = some.clone()
    equal[:, 3] = equal[:, 1]
    equal[0, 4] = equal[0, 0]
    yield Case("equally free places", (equal,), True, edge=True)
    yield Case("an empty memory", (torch.zeros(2, 5),), True, edge=True)
    yield Case("a full memory", (torch.ones(2, 5),), True, edge=True)
    either = (draw.whole(0, 2, 3, 7) > 0).float()
    yield Case("each place either free or full", (either,), True, edge=True)
    yield Case("usage in order already", (some.sort(1)[0],), True, edge=True)
    yield Case("200 places", (_usage(draw, 2, 200),), True, edge=True)
    yield Case("float64 numbers", (_usage(draw, 3, 5, torch.float64),), True, edge=True)


@task.oracle
def _(usage):
    rows = []
    for row in usage:
        left, weights = torch.ones((), dtype=usage.dtype), [None] * len(row)
        for place in sorted(range(len(row)), key=row.tolist().__getitem__):
            weights[place] = left - left * row[place]
            left = left * row[place]
        rows.append(torch.stack(weights))
    return torch.stack(rows)


@task.steps
def _(usage):
    order = usage.argsort(dim=1, stable=True)
    ordered = yield "the usage from the freest place to the fullest", lambda usage: usage.gather(1, order), usage
    before = yield "what is left over before each place", _before, ordered
    room = yield "the room of each place", sub, 1, ordered
    shares = yield "the weights in the sorted order", mul, room, before
    weights = yield "the weights at their places", lambda shares: shares.gather(1, order.argsort(1)), shares
    return weights


def _sorted(usage):
    return usage.sort(dim=1, stable=True)


def _before(ordered):
    """The product of all that stand before, along the last axis."""
    return torch.cat([torch.ones_like(ordered[..., :1]), ordered[..., :-1]], -1).cumprod(-1)


def _room(ordered):
    return 1 - ordered


def _back(shares, order):
    return torch.zeros_like(shares).scatter(1, order, shares)


def _allocation(usage, sort=_sorted, before=_before, room=_room, back=_back, end=lambda weights: weights):
    ordered, order = sort(usage)
    return end(back(room(ordered) * before(ordered), order))


def _mistake(name, sentence, **parts):
    """Register an allocation that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda usage: _allocation(usage, **parts))


# The order

_mistake(
    "left_in_sorted_order",
    "You leave the weights in the sorted order, so the first place always gets the weight of the freest one. Put each weight back at the place that it belongs to, with scatter for instance.",
    back=lambda shares, order: shares,
)
_mistake(
    "sorted_once_more",
    "To put the weights back you gather with the order that sorted the usage, which mixes them once more. Use scatter with this order, or gather with its own argsort, which undoes it.",
    back=lambda shares, order: shares.gather(1, order),
)
_mistake(
    "fullest_first",
    "You begin with the fullest place. Sort the usage with the smallest first, so that the freest place has the first choice.",
    sort=lambda usage: usage.sort(dim=1, descending=True, stable=True),
)
_mistake(
    "not_sorted",
    "You go through the places in the order in which they stand. Go from the freest to the fullest: sort the usage first.",
    sort=lambda usage: (usage, torch.arange(usage.shape[1]).expand_as(usage)),
)
_mistake(
    "sorted_over_the_batch",
    "You sort along the batch, axis 0. Each row has a memory of its own: sort along the places, axis 1.",
    sort=lambda usage: usage.sort(dim=0, stable=True),
    back=lambda shares, order: torch.zeros_like(shares).scatter(0, order, shares),
)
_mistake(
    "first_order_for_all",
    "All rows go through the places in the order of the first row. Each row has an order of its own.",
    sort=lambda usage: (lambda order: (usage.gather(1, order), order))(
        usage[:1].argsort(dim=1, stable=True).expand_as(usage)
    ),
)
_mistake(
    "last_row_everywhere",
    "Every row has the weights of the last one. `result[:, order] = …` does that: it writes into all rows, once for each row of the order. Use scatter along axis 1, so that each row's weights stay in that row.",
    end=lambda weights: weights[-1:].expand_as(weights),
)
_mistake(
    "ranks_for_weights",
    "You return the ranks of the places. Each place gets a weight: its room, times what the freer places have left over.",
    end=lambda weights: (-weights).argsort(dim=1, stable=True).argsort(1).to(weights.dtype),
)
_mistake(
    "last_of_equal_ones",
    "Of equally free places you take the last one first. Take the first: a stable sort with the smallest first keeps their order.",
    sort=lambda usage: (lambda order: (usage.gather(1, order), order))(
        usage.flip(1).argsort(dim=1, stable=True).mul(-1).add(usage.shape[1] - 1)
    ),
)


@task.mistake(
    "All steps run along the batch, axis 0, so that rows share their room. Each row has a memory of its own: sort, multiply and put back along the places, axis 1."
)
def everything_along_the_batch(usage):
    return _allocation(usage.T).T


@task.mistake(
    "Two things differ. Your running product includes the place itself: only the places before it count. And you leave the weights in the sorted order: put each back at the place that it belongs to."
)
def product_with_itself_in_sorted_order(usage):
    ordered, _ = _sorted(usage)
    return (1 - ordered) * ordered.cumprod(1)


def _all_pairs(usage, before):
    """The product over the places that `before(their usage, one's own)` picks out."""
    return (1 - usage) * torch.where(before(usage[:, None], usage[..., None]), usage[:, None], 1.0).prod(-1)


@task.mistake(
    "Equally free places get the same weight, as if each were the first of them: in an empty memory every place gets 1. Of equally free places, each has to count those that stand before it."
)
def equal_ones_alike(usage):
    return _all_pairs(usage, torch.lt)


@task.mistake(
    "Equally free places all count each other as freer. Of two equally free places the first one comes first, and only the second counts the other."
)
def equal_ones_share(usage):
    itself = torch.eye(usage.shape[1], dtype=torch.bool)
    return (1 - usage) * torch.where((usage[:, None] <= usage[..., None]) & ~itself, usage[:, None], 1.0).prod(-1)


# What is left over

_mistake(
    "product_with_itself",
    "Your running product includes the place itself, so a free place gets the weight 0. Only the places before it count: move the product on by one place, and begin with 1.",
    before=lambda ordered: ordered.cumprod(-1),
)
_mistake(
    "zero_at_the_beginning",
    "Your running product begins with 0 where it should begin with 1, so the freest place gets the weight 0. A product of no numbers is 1.",
    before=lambda ordered: torch.cat([0 * ordered[:, :1], ordered.cumprod(1)[:, :-1]], 1),
)
_mistake(
    "zero_before_the_product",
    "You put 0 before the sorted usage and then take the running product, so every weight is 0. Put 1 there.",
    before=lambda ordered: torch.cat([0 * ordered[:, :1], ordered[:, :-1]], 1).cumprod(1),
)
_mistake(
    "rolled_round",
    "You move the running product on with `roll`, so the last number comes round to the first place. There it should be 1: nothing has been given away before the freest place.",
    before=lambda ordered: ordered.cumprod(1).roll(1, 1),
)
_mistake(
    "rolled_before_the_product",
    "You move the sorted usage on with `roll` and then take the running product, so the fullest place's usage is a factor of every weight. Put 1 in its place first.",
    before=lambda ordered: ordered.roll(1, 1).cumprod(1),
)
_mistake(
    "moved_the_other_way",
    "You move the running product the wrong way, so that each place counts the next one as well. Only the places before it count, and nothing stands before the first: begin with 1.",
    before=lambda ordered: torch.cat([ordered.cumprod(1)[:, 1:], torch.ones_like(ordered[:, :1])], 1),
)
_mistake(
    "product_from_the_other_end",
    "Your product runs over the places after a place, the fuller ones. Take it over those before it, the freer ones.",
    before=lambda ordered: _before(ordered.flip(1)).flip(1),
)
_mistake(
    "one_place_back",
    "You multiply by the usage of the place before only. Multiply by that of all places before: take the running product.",
    before=lambda ordered: torch.cat([torch.ones_like(ordered[:, :1]), ordered[:, :-1]], 1),
)
_mistake(
    "running_sum",
    "You take a running sum of the usage. What is left over becomes smaller with each place: take the running product.",
    before=lambda ordered: torch.cat([torch.ones_like(ordered[:, :1]), ordered.cumsum(1)[:, :-1]], 1),
)
_mistake(
    "running_sum_and_one",
    "You put 1 before the sorted usage and take a running sum. What is left over becomes smaller with each place: take the running product.",
    before=lambda ordered: torch.cat([torch.ones_like(ordered[:, :1]), ordered[:, :-1]], 1).cumsum(1),
)
_mistake(
    "room_left_over",
    "You multiply by the room of the places before, 1 minus their usage. That is what they take; what they leave over is their usage.",
    before=lambda ordered: _before(1 - ordered),
)
_mistake(
    "product_of_the_others",
    "You multiply by the usage of all other places, the fuller ones too. Only the places before count.",
    before=lambda ordered: torch.where(torch.eye(ordered.shape[1], dtype=torch.bool), 1.0, ordered[:, None]).prod(-1),
)
_mistake(
    "nothing_taken_away",
    "Every place gets its room, 1 minus its usage, whatever the freer places have taken. Multiply by the product of the usage of all places before.",
    before=torch.ones_like,
)
_mistake(
    "usage_for_room",
    "You multiply by the usage of a place where its room belongs. Its room is 1 minus its usage.",
    room=lambda ordered: ordered,
)
_mistake(
    "room_unused",
    "You return what is left over before each place. Multiply it by the room of the place, 1 minus its usage.",
    room=torch.ones_like,
)
_mistake(
    "divided_by_itself",
    "You divide the running product by the place's own usage. Where a place is free that is 0 / 0, which is NaN. Move the sorted usage on by one place, begin with 1, and take the running product then.",
    before=lambda ordered: ordered.cumprod(1) / ordered,
)
_mistake(
    "divided_by_almost_itself",
    "You divide the running product by the place's own usage, and guard against 0 with a small number. A free place then gets 0 in place of all that is left over. Move the sorted usage on by one place, begin with 1, and take the running product then.",
    before=lambda ordered: ordered.cumprod(1) / ordered.clamp(min=1e-9),
)
_mistake(
    "through_logarithms",
    "The values are right, but where a place is free the gradient is NaN: you add up logarithms, and log 0 is minus infinity. Multiply the numbers themselves, with `cumprod` for instance.",
    before=lambda ordered: torch.cat([torch.zeros_like(ordered[:, :1]), ordered.log().cumsum(1)[:, :-1]], 1).exp(),
)


# The end

_mistake(
    "made_to_sum_to_1",
    "You divide the weights by their sum. They sum to less than 1 where the memory is nearly full, so that little is written there, and in a full memory you get 0 / 0. Leave them as they are.",
    end=lambda weights: weights / weights.sum(1, keepdim=True),
)
_mistake(
    "made_to_sum_to_1_guarded",
    "You divide the weights by their sum, with a small number against 0. They sum to less than 1 where the memory is nearly full, so that little is written there. Leave them as they are.",
    end=lambda weights: weights / (weights.sum(1, keepdim=True) + 1e-8),
)
_mistake(
    "softmax_of_them",
    "You take a softmax of the weights. Leave them as they are: they are weights already, and a full place has to get 0.",
    end=lambda weights: weights.softmax(1),
)
_mistake(
    "rest_to_the_freest",
    "You give what is left over at the end to the freest place. Leave it: where the memory is nearly full, little is to be written.",
    end=lambda weights: (
        weights
        + (1 - weights.sum(1, keepdim=True))
        * torch.nn.functional.one_hot(weights.argmax(1), weights.shape[1]).to(weights.dtype)
    ),
)


@task.mistake(
    "You take a softmax of the room of the places, so a full place gets a weight too. The freest place takes 1 minus its usage, the next one its share of what is left over, and so on."
)
def softmax_of_the_room(usage):
    return (1 - usage).softmax(1)


@task.mistake(
    "You divide the room of each place by the room of all. The freest place takes 1 minus its usage, the next one its share of what is left over, and so on."
)
def room_divided_by_all_room(usage):
    return (1 - usage) / (1 - usage).sum(1, keepdim=True)


@task.mistake(
    "You give the weight 1 to the freest place, and 0 to all others. Then no gradient flows. It takes 1 minus its usage, the next one its share of what is left over, and so on."
)
def all_to_the_freest(usage):
    return torch.nn.functional.one_hot(usage.argmin(1), usage.shape[1]).to(usage.dtype)


@task.mistake(
    "Only the freest place gets a weight. What it leaves over, its usage, goes on to the next place, and so on."
)
def freest_only(usage):
    return all_to_the_freest(usage) * (1 - usage)
