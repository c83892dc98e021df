"""Task 11.catch_order_blind: a test that tells models which see the order of their rows from those that are blind to it.

Models return one vector. What sees the order moves by more than 1e-4 in at least half of the orders of random rows, at T = 5 or at T = LONGEST, except rare ones;
what is blind stays within rounding. The models that are tried here keep to that by a margin.
"""

from math import pi

import torch

from course_lessons.shared import row_models as rows_of
from course_lessons.shared.candidate_tests import one_case_each
from course_lessons.shared.order_tests import equal_up_to_rounding, order_mistakes
from course_lessons.shared.row_models import VALUE, WIDTH, made
from course_utils.checks.task import Task

PLACES, CLASS, ASKED = made(11, 64, WIDTH) * 2, made(12, 1, WIDTH) * 2, made(13, WIDTH)


def _pooled(x, values=None):
    """Attention with one fixed query: a weighted mean of the rows."""
    return (x @ ASKED).softmax(0) @ (x if values is None else values)


def _with_class(x, layers=1, attend=rows_of.attention):
    """A class token comes after all rows; what comes out for it is returned."""
    rows = torch.cat([x, CLASS])
    for _ in range(layers):
        rows = rows + attend(rows)
    return rows[-1]


# Models that are blind to the order


def _places_whole_turns_apart(x):
    """sin(2πp) and cos(2πp): the same for each whole number p, up to rounding."""
    angles = 2 * pi * torch.arange(len(x), dtype=torch.float64)
    places = torch.stack([angles.sin(), angles.cos()] * 2, 1).float()
    return _pooled(x + places)


BLIND = {
    lambda x: x.mean(0): "a model that is blind to the order: the mean of the rows",
    lambda x: x.sum(0): "a model that is blind to the order: the sum of the rows",
    lambda x: x.amax(0): "a model that is blind to the order: the maximum over the rows",
    _pooled: "a model that is blind to the order: attention with one fixed query",
    lambda x: rows_of.attention(x).mean(0): "a model that is blind to the order: self-attention, then the mean",
    _with_class: "a model that is blind to the order: self-attention with a class token",
    lambda x: rows_of.causal_attention(torch.cat([CLASS, x]))[0]: "a model that is blind to the order: a causal mask, with a class token before all rows",
    lambda x: _with_class(x, 1, rows_of.causal_attention): "a model that is blind to the order: one causal layer, with a class token after all rows",
    lambda x: (x + PLACES[: len(x)]).mean(0) @ VALUE: "a model that is blind to the order: positions are added, then the mean is taken",
    lambda x: (rows_of.attention(x) + PLACES[: len(x)]).sum(0) / 4: "a model that is blind to the order: positions are added to attention's output, then the sum is taken",
    lambda x: _with_class(x + PLACES[0], 2): "a model that is blind to the order: all rows get the same position",
    _places_whole_turns_apart: "a model that is blind to the order: the positions differ by full turns",
    lambda x: rows_of.recurrent(x[x[:, 0].argsort()])[-1]: "a model that is blind to the order: it sorts the rows and then reads them",
    lambda x: rows_of.added_one_by_one(x) / len(x): "a model that is blind to the order: it adds up one row after another",
    lambda x: torch.tanh(_pooled(x)) + len(x): "a model that is blind to the order: it knows the length",
    lambda x: CLASS[0] + 0 * x.sum(0): "a model that is blind to the order: it ignores the rows",
}  # fmt: skip


# Models that see it


def _one_wave_alone(x):
    places = torch.zeros_like(x)
    places[:, 2] = torch.arange(len(x)).float().sin()
    return _pooled(x + places)


def _turned_by_places(x):
    """Queries and keys are turned by their positions, then comes the mean: scores depend on distances."""
    angles = torch.arange(len(x))[:, None] * torch.tensor([1.0, 0.3])
    turns = torch.polar(torch.ones_like(angles), angles)
    query, key = (torch.view_as_complex((x @ made(seed, 4, 4)).unflatten(1, (2, 2))) * turns for seed in (14, 15))
    scores = (query @ key.conj().T).real * 2
    return (scores.softmax(-1) @ x).mean(0)


def _at(length):
    """The last row counts more where there are so many rows, and nowhere else."""
    return lambda x: x.mean(0) + (len(x) == length) * x[-1] / 3


AWARE = {
    lambda x: rows_of.recurrent(x)[-1]: "a model that sees the order: the last state of a recurrent network",
    lambda x: _with_class(x + PLACES[: len(x)]): "a model that sees the order: positions are added before self-attention with a class token",
    lambda x: (x + PLACES[: len(x)]).amax(0): "a model that sees the order: positions are added, then the maximum over the rows is taken",
    _turned_by_places: "a model that sees the order: queries and keys are rotated by their positions",
    lambda x: _pooled(x + torch.arange(len(x))[:, None] / 8): "a model that sees the order: each row's position is added to it",
    lambda x: _pooled(x + PLACES[torch.arange(len(x)) % 3]): "a model that sees the order: three positions are added in turn",
    _one_wave_alone: "a model that sees the order: one wave of positions is added to one feature",
    lambda x: _with_class(2 * x, 2, rows_of.causal_attention): "a model that sees the order: two causal layers without positions",
    lambda x: x.mean(0) + (x[0] + x[-1]) / 4: "a model that sees the order: the first and the last row count more, both equally, so reversing the rows changes nothing",
    lambda x: rows_of.causal_attention(x)[-1] + x[-1] / 4: "a model that sees the order: the last row counts more",
    lambda x: x.mean(0) + x[len(x) // 2] / 4: "a model that sees the order: the row in the middle counts more",
    lambda x: x[::2].mean(0): "a model that sees the order: the mean of every other row",
    lambda x: (x[1:] * x[:-1]).sum(0) / 4: "a model that sees the order: products of neighbours, so reversing the rows changes nothing",
    lambda x: torch.tanh(x @ VALUE + x.roll(-1, 0)).mean(0): "a model that sees the order: each row and the next one, cyclically, so shifting all rows changes nothing",
    lambda x: (x * x.roll(1, 0)).mean(0): "a model that sees the order: products of neighbours, cyclically, so neither reversing nor shifting all rows changes anything",
    lambda x: x.mean(0) + torch.tanh(x.roll(1, 0)[-1] - 2 * x[-1]) / 4: "a model that sees the order: it compares the last two rows",
    lambda x: _pooled(x + PLACES[torch.arange(len(x)).clamp(min=6)]): "a model that sees the order in sequences of eight rows or more, such as T = 12",
    lambda x: x.mean(0) + (len(x) < 8) * x[-1] / 3: "a model that sees the order in sequences of seven rows or fewer, such as T = 5",
    lambda x: _pooled(x + PLACES[torch.arange(len(x)).clamp(max=4)]): "a model that sees the order: all rows from the fifth on get the same position",
    lambda x: torch.arange(len(x)).flip(0).clamp(min=1).float().softmax(0) @ x: "a model that sees the order: earlier rows count more, but the last two count equally",
    lambda x: torch.arange(len(x)).clamp(min=1).float().softmax(0) @ x: "a model that sees the order: later rows count more, but the first two count equally",
    lambda x: x.mean(0) + torch.tensor([0.0, 0.0, 0.0, 0.5]) * x[-1].sum(): "a model that sees the order: the last row is added to one of the four entries",
    lambda x: x.mean(0) + x[0, 1] / 4: "a model that sees the order: one feature of the first row is added",
    lambda x: x.mean(0) + x[0].sum() * torch.tensor([0.25, -0.25, 0.0, 0.0]): "a model that sees the order: the first row is added to one entry and subtracted from another",
    lambda x: x.mean(0) + x[-1] / 200: "a model that sees the order weakly: a two-hundredth of the last row is added",
}  # fmt: skip

RARE = {
    lambda x: x.mean(0) + x[-1] / 6000: "a model that sees the order very weakly, by about 3e-4",
    **{_at(T): f"a model that sees the order only in sequences of {T} rows" for T in (3, 7, 10)},
}


task = Task(
    __name__,
    "a test that finds models blind to order",
    arguments=("model",),
    result="verdict",
    candidates=tuple(map(rows_of.without_gradient, (*BLIND, *AWARE, *RARE))),
    suspects=False,
    difficulty=3,
    importance=4,
    minutes=15,
)


one_case_each(task, BLIND, AWARE, RARE, verdict=False)


_mistaken = order_mistakes(task, lambda before, order: before)
_mistaken("every_number_must_move", same=lambda before, after: ((before - after).abs() <= 1e-5).any())
_mistaken("sums_compared", same=lambda before, after: equal_up_to_rounding(before.sum(), after.sum()))
_mistaken("one_number_compared", same=lambda before, after: equal_up_to_rounding(before[0], after[0]))


@task.mistake()
def something_else_changed(model):
    x = torch.randn(5, WIDTH, generator=torch.Generator().manual_seed(6))
    return not equal_up_to_rounding(model(x), model(x[:, [2, 0, 3, 1]]))
