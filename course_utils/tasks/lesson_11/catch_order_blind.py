"""Task 11.catch_order_blind: a test that tells models which see the order of their rows from those that are blind to it.

Models return one vector. What sees the order moves by more than 1e-4 in at least half of the orders of random rows, at T = 5 or at T = LONGEST, except rare ones;
what is blind stays within rounding. The models that are tried here keep to that by a margin.
"""

from math import pi

import torch

from course_utils.checks.running.contract import NotAsAsked
from course_utils.checks.task import Task
from course_utils.tasks.candidates import one_case_each
from course_utils.tasks.lesson_09 import _models as rows_of
from course_utils.tasks.lesson_09._models import VALUE, WIDTH, made

LONGEST = 12
PLACES, CLASS, ASKED = made(11, 64, WIDTH) * 2, made(12, 1, WIDTH) * 2, made(13, WIDTH)


def _pooled(x, values=None):
    """Attention with one fixed query: a weighted mean of the rows."""
    return (x @ ASKED).softmax(0) @ (x if values is None else values)


def _with_class(x, layers=1, attend=rows_of.attention):
    """A class token stands behind all rows; what comes out for it is returned."""
    rows = torch.cat([x, CLASS])
    for _ in range(layers):
        rows = rows + attend(rows)
    return rows[-1]


# Models that are blind to the order


def _mean(x):
    return x.mean(0)


def _sum(x):
    return x.sum(0)


def _largest(x):
    return x.amax(0)


def _constant(x):
    return CLASS[0] + 0 * x.sum(0)


def _attention_then_mean(x):
    return rows_of.attention(x).mean(0)


def _class_token_in_front(x):
    """With a causal mask, a class token in front of all rows sees none of them."""
    return rows_of.causal_attention(torch.cat([CLASS, x]))[0]


def _one_causal_layer(x):
    """One causal layer, the class token behind: it sees all rows, and the rows are as they came in."""
    return _with_class(x, 1, rows_of.causal_attention)


def _places_lost_in_the_mean(x):
    """The places are added, and then comes the mean: which row got which is lost."""
    return (x + PLACES[: len(x)]).mean(0) @ VALUE


def _places_in_values(x):
    """Places are added to what attention gives, and then comes the sum."""
    return (rows_of.attention(x) + PLACES[: len(x)]).sum(0) / 4


def _the_same_place(x):
    """Every row gets the vector of position 0."""
    return _with_class(x + PLACES[0], 2)


def _places_whole_turns_apart(x):
    """sin(2πp) and cos(2πp): the same for each whole number p, up to rounding."""
    angles = 2 * pi * torch.arange(len(x), dtype=torch.float64)
    places = torch.stack([angles.sin(), angles.cos()] * 2, 1).float()
    return _pooled(x + places)


def _sorted_first(x):
    """A recurrent network that reads the rows sorted by their first number."""
    return rows_of.recurrent(x[x[:, 0].argsort()])[-1]


def _added_one_by_one(x):
    """Adds up one row after another, from 4 on: in another order the last digits differ."""
    total = 4 + torch.zeros(WIDTH)
    for row in x:
        total = total + row
    return (total - 4) / len(x)


def _knows_the_length(x):
    return torch.tanh(_pooled(x)) + len(x)


BLIND = {
    _mean: "a model that is blind to the order: the mean of the rows",
    _sum: "a model that is blind to the order: the sum of the rows",
    _largest: "a model that is blind to the order: the largest numbers of all rows",
    _pooled: "a model that is blind to the order: attention with one fixed query",
    _attention_then_mean: "a model that is blind to the order: self-attention, then the mean",
    _with_class: "a model that is blind to the order: self-attention with a class token",
    _class_token_in_front: "a model that is blind to the order: a causal mask, and a class token in front of all rows",
    _one_causal_layer: "a model that is blind to the order: one causal layer, and a class token behind all rows",
    _places_lost_in_the_mean: "a model that is blind to the order: positions are added, then comes the mean",
    _places_in_values: "a model that is blind to the order: positions are added to what attention gives, then comes the sum",
    _the_same_place: "a model that is blind to the order: all rows get the same position",
    _places_whole_turns_apart: "a model that is blind to the order: the positions differ by whole turns",
    _sorted_first: "a model that is blind to the order: it sorts the rows and then reads them",
    _added_one_by_one: "a model that is blind to the order: it adds up one row after another",
    _knows_the_length: "a model that is blind to the order: it knows the length",
    _constant: "a model that is blind to the order: it ignores the rows",
}


# Models that see it


def _places_then_class(x):
    return _with_class(x + PLACES[: len(x)])


def _places_then_largest(x):
    return (x + PLACES[: len(x)]).amax(0)


def _whole_numbers_as_places(x):
    """The number of the place itself is added, where sines and cosines were meant."""
    return _pooled(x + torch.arange(len(x))[:, None] / 8)


def _three_places_in_turn(x):
    return _pooled(x + PLACES[torch.arange(len(x)) % 3])


def _one_wave_alone(x):
    places = torch.zeros_like(x)
    places[:, 2] = torch.arange(len(x)).float().sin()
    return _pooled(x + places)


def _places_far_out(x):
    """Places are told apart from the seventh on."""
    return _pooled(x + PLACES[torch.arange(len(x)).clamp(min=6)])


def _no_place_beyond_the_fourth(x):
    return _pooled(x + PLACES[torch.arange(len(x)).clamp(max=4)])


def _turned_by_places(x):
    """Queries and keys are turned by their positions, then comes the mean: scores depend on distances."""
    angles = torch.arange(len(x))[:, None] * torch.tensor([1.0, 0.3])
    turns = torch.polar(torch.ones_like(angles), angles)
    query, key = (torch.view_as_complex((x @ made(seed, 4, 4)).unflatten(1, (2, 2))) * turns for seed in (14, 15))
    scores = (query @ key.conj().T).real * 2
    return (scores.softmax(-1) @ x).mean(0)


def _last_state(x):
    return rows_of.recurrent(x)[-1]


def _two_causal_layers(x):
    """Without any positions: in the second layer, rows hold what stood before them."""
    return _with_class(2 * x, 2, rows_of.causal_attention)


def _last_row_alone(x):
    return rows_of.causal_attention(x)[-1] + x[-1] / 4


def _first_and_last(x):
    """The ends count more, both alike: reversing shows nothing."""
    return x.mean(0) + (x[0] + x[-1]) / 4


def _middle(x):
    return x.mean(0) + x[len(x) // 2] / 4


def _every_other(x):
    return x[::2].mean(0)


def _neighbours(x):
    """Products of neighbours: reversing shows nothing."""
    return (x[1:] * x[:-1]).sum(0) / 4


def _circle(x):
    """Each row and the one behind it, round in a circle: moving all rows on shows nothing."""
    return torch.tanh(x @ VALUE + x.roll(-1, 0)).mean(0)


def _circle_both_ways(x):
    """Products of neighbours round in a circle: neither reversing nor moving on shows anything."""
    return (x * x.roll(1, 0)).mean(0)


def _last_two(x):
    """Only the order within the last two rows counts, and which two these are."""
    return x.mean(0) + torch.tanh(x.roll(1, 0)[-1] - 2 * x[-1]) / 4


def _from_the_third_on(x):
    """The first two rows may change places."""
    weights = torch.arange(len(x)).clamp(min=1).float()
    return weights.softmax(0) @ x


def _but_for_the_last_two(x):
    """The last two rows may change places."""
    weights = torch.arange(len(x)).flip(0).clamp(min=1).float()
    return weights.softmax(0) @ x


def _into_one_feature(x):
    return x.mean(0) + torch.tensor([0.0, 0.0, 0.0, 0.5]) * x[-1].sum()


def _from_one_feature(x):
    return x.mean(0) + x[0, 1] / 4


def _cancelling(x):
    """What one feature gains another one loses."""
    return x.mean(0) + x[0].sum() * torch.tensor([0.25, -0.25, 0.0, 0.0])


def _weakly(x):
    return x.mean(0) + x[-1] / 200


def _very_weakly(x):
    """By some 3e-4."""
    return x.mean(0) + x[-1] / 6000


def _at(length):
    """The last row counts more where there are so many rows, and nowhere else."""
    return lambda x: x.mean(0) + (len(x) == length) * x[-1] / 3


AWARE = {
    _last_state: "a model that sees the order: the last state of a recurrent network",
    _places_then_class: "a model that sees the order: positions are added, then comes self-attention with a class token",
    _places_then_largest: "a model that sees the order: positions are added, then come the largest numbers",
    _turned_by_places: "a model that sees the order: queries and keys are turned by their positions",
    _whole_numbers_as_places: "a model that sees the order: the number of its place is added to each row",
    _three_places_in_turn: "a model that sees the order: three positions are added in turn",
    _one_wave_alone: "a model that sees the order: one wave of positions is added to one feature",
    _two_causal_layers: "a model that sees the order: two causal layers without positions",
    _first_and_last: "a model that sees the order: the first and the last row count more, both alike, so it does not notice that the rows are reversed",
    _last_row_alone: "a model that sees the order: the last row counts more",
    _middle: "a model that sees the order: the row in the middle counts more",
    _every_other: "a model that sees the order: the mean of every other row",
    _neighbours: "a model that sees the order: products of neighbours, so it does not notice that the rows are reversed",
    _circle: "a model that sees the order: each row and the next one, round in a circle, so it does not notice that all rows move on",
    _circle_both_ways: "a model that sees the order: products of neighbours, round in a circle, so it notices neither that the rows are reversed nor that all move on",
    _last_two: "a model that sees the order: it compares the last two rows",
    _places_far_out: "a model that sees the order in sequences of eight rows or more, such as T = 12",
    _no_place_beyond_the_fourth: "a model that sees the order: from the fifth row on all get the same position",
    _from_the_third_on: "a model that sees the order: the later a row, the more it counts, but for the first two, which count alike",
    _but_for_the_last_two: "a model that sees the order: the earlier a row, the more it counts, but for the last two, which count alike",
    _into_one_feature: "a model that sees the order: the last row is added to one of the four numbers",
    _from_one_feature: "a model that sees the order: one feature of the first row is added",
    _cancelling: "a model that sees the order: what the first row adds to one number it takes from another",
    _weakly: "a model that sees the order weakly: a two-hundredth of the last row is added",
}

RARE = {
    _very_weakly: "a model that sees the order very weakly, by about 3e-4",
    **{_at(T): f"a model that sees the order of {T} rows alone" for T in (3, 7, 10)},
}


def _asking(model):
    """The numbers alone, from rows of width 4; what comes in stays as it is."""

    def call(x):
        if not isinstance(x, torch.Tensor) or x.dim() != 2 or x.shape[1] != WIDTH or len(x) < 1:
            raise NotAsAsked(
                "Your test calls a model with something else than a tensor of T rows of width 4, with T from 1: T×4."
            )
        if x.requires_grad:
            raise NotAsAsked(
                "Your test hands a model rows that require a gradient. Gradients do not pass through these models: put the rows in another order, call the model again, and compare what it returns."
            )
        with torch.no_grad():
            return model(x.detach().float().clone())

    return call


task = Task(
    "11.catch_order_blind",
    "a test that finds models which are blind to order",
    arguments=("model",),
    result="verdict",
    candidates=tuple(map(_asking, (*BLIND, *AWARE, *RARE))),
    suspects=False,
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "What comes out is one vector for the whole sequence. A blind model gives the same vector whatever the order of the rows is. So put the rows in another order, and compare what comes out before and after. One order in which something moves is enough to know that a model sees; to call it blind you have to try many.",
        (
            "Take the rows 1, 2, 6 (one feature). Their mean is 3 in every order: blind. First row times last row plus the mean gives 6 + 3 = 9. In the reversed order 6, 2, 1 it gives 9 again, so reversing shows nothing. In the order 2, 1, 6 it gives 12 + 3 = 15: it sees the order."
        ),
        "For T = 5 and T = 12: x = random numbers T×4 and before = model(x); for five orders = torch.randperm(T): after = model(x[order]); return True as soon as after and before differ by more than 1e-5. At the end: False.",
    ),
)


one_case_each(task, BLIND, AWARE, RARE, verdict=False)


def _random(T, draw):
    return [torch.randperm(T, generator=draw) for _ in range(6)]


def _close(before, after, least=1e-5):
    return torch.allclose(after, before, rtol=1e-5, atol=least)


def _test(model, lengths=range(2, LONGEST + 1), orders=_random, same=_close, verdict=any):
    """A test like the solution's, in which things may be left out."""
    draw, moved = torch.Generator().manual_seed(6), []
    for T in lengths:
        x = torch.randn(T, WIDTH, generator=draw)
        before = model(x)
        moved += [not same(before, model(x[order])) for order in orders(T, draw)]
    return verdict(moved)


def _columns(model):
    x = torch.randn(5, WIDTH, generator=torch.Generator().manual_seed(6))
    return not _close(model(x), model(x[:, [2, 0, 3, 1]]))


MISTAKES = {
    "turned_round": (
        "True and False are exchanged: your test says True to models that are blind to the order, and False to those that see it.",
        lambda model: not _test(model),
    ),
    "always_true": ("Your test says True to every model.", lambda model: True),
    "always_false": (
        "Your test says False to every model, also to those that see the order. Are the rows different from each other, and does their order change at all? One order that shows something is enough: `any`, and not `all`. And say False only after the last order: a `return False` within the loop ends it at the first one.",
        lambda model: False,
    ),
    "something_else_changed": (
        "Your test says True to every model, except for those that ignore their rows, so something else than the order of rows has changed. Do you put columns in another order, x[:, order] in place of x[order]? Do you draw new numbers for the second call, or leave rows out? Change nothing but the order of the rows.",
        _columns,
    ),
    "no_rounding": (
        "Your test says True to blind models that add up in another order, so that last digits differ. Leave room for rounding: torch.allclose(…, atol=1e-5) in place of torch.equal or ==.",
        lambda model: _test(model, same=torch.equal),
    ),
    "too_much_room": (
        "Your test says False to models that see the order only a little: leave less room. Rounding stays below 1e-5.",
        lambda model: _test(model, same=lambda before, after: _close(before, after, 0.05)),
    ),
    "every_number_must_move": (
        "Your test says False to models in which the order moves some of the four numbers and not all of them. One that moves is enough: `.any()`, and not `.all()`.",
        lambda model: _test(model, same=lambda before, after: ((before - after).abs() <= 1e-5).any()),
    ),
    "sums_compared": (
        "Your test says False to a model in which one number grows by as much as another one shrinks, because you compare sums or means of what comes out. Compare all four numbers.",
        lambda model: _test(
            model, same=lambda before, after: torch.allclose(before.sum(), after.sum(), rtol=1e-5, atol=1e-5)
        ),
    ),
    "one_number_compared": (
        "Your test says False to a model in which the last number alone tells the order, because you compare the first number that comes out. Compare all four.",
        lambda model: _test(model, same=lambda before, after: _close(before[0], after[0])),
    ),
    "reversed_alone": (
        "Your test says False to models that treat both directions alike, because you try the reversed order alone. Try several random orders.",
        lambda model: _test(model, orders=lambda T, draw: [torch.arange(T).flip(0)]),
    ),
    "moved_on_alone": (
        "Your test says False to models that go round in a circle, because you only move all rows on. Try several random orders.",
        lambda model: _test(model, orders=lambda T, draw: [torch.arange(T).roll(n) for n in range(1, T)]),
    ),
    "reversed_and_moved_on": (
        "Your test says False to a model that goes round in a circle and treats both directions alike, because you only reverse the rows and move them on. Try several random orders.",
        lambda model: _test(
            model, orders=lambda T, draw: [torch.arange(T).flip(0), *(torch.arange(T).roll(n) for n in range(1, T))]
        ),
    ),
    "first_two_swapped": (
        "Your test says False to models to which the order of the first two rows looks the same, because you let only these change places. Try several random orders of all rows.",
        lambda model: _test(model, orders=lambda T, draw: [torch.tensor([1, 0, *range(2, T)])]),
    ),
    "last_two_swapped": (
        "Your test says False to models to which the order of the last two rows looks the same, because you let only these change places. Try several random orders of all rows.",
        lambda model: _test(model, orders=lambda T, draw: [torch.tensor([*range(T - 2), T - 1, T - 2])]),
    ),
    "short_alone": (
        "Your test says False to models that see the order in longer sequences alone. Try T = 12 as well.",
        lambda model: _test(model, lengths=range(2, 6)),
    ),
    "two_rows_alone": (
        "Your test says False to models for which two rows are too few to show anything. Try T = 5 and T = 12. One that shows something is enough, so do not return False before the last one.",
        lambda model: _test(model, lengths=[2], orders=lambda T, draw: [torch.tensor([1, 0])]),
    ),
}
for _name, (_sentence, _function) in MISTAKES.items():

    def _mistaken(model, function=_function):
        return function(model)

    task.mistake(_sentence, _name)(_mistaken)
