"""Task 09.sees_order: a test that finds out whether a model notices the order of its rows.

Where rows change their order, whatever notices it moves by more than 1e-4 in most orders; what does not notice it stays within rounding.
Each model that notices it does so at some length up to LONGEST.
"""

import torch
import torch.nn.functional as F

from course_lessons.shared.candidate_tests import one_case_each
from course_lessons.shared.order_tests import LONGEST, equal_up_to_rounding, order_mistakes
from course_lessons.shared.row_models import (
    VALUE,
    WIDTH,
    added_one_by_one,
    attention,
    causal_attention,
    causal_convolution,
    convolution,
    each_by_itself,
    identity,
    made,
    recurrent,
    running_mean,
    without_gradient,
)
from course_utils.checks.task import Task

PLACES = made(7, 64, WIDTH)


# Models that do not notice the order


def _two_layers(x):
    x = x + attention(x)
    return x + attention(each_by_itself(x))


UNAWARE = {
    attention: "a model that does not notice the order: self-attention",
    _two_layers: "a model that does not notice the order: two layers of self-attention",
    identity: "a model that does not notice the order: it changes nothing",
    each_by_itself: "a model that does not notice the order: each row by itself",
    lambda x: x.mean(0).expand_as(x): "a model that does not notice the order: all rows become their mean",
    lambda x: x - x.mean(0): "a model that does not notice the order: each row minus the mean of all",
    lambda x: each_by_itself(x) + x.amax(0): "a model that does not notice the order: the maximum over all rows is added",
    lambda x: attention(x) + len(x): "a model that does not notice the order: self-attention that knows the length",
    lambda x: each_by_itself(x) + added_one_by_one(x) / len(x): "a model that does not notice the order: it adds up one row after another",
}  # fmt: skip


# Models that notice it


def _both_neighbours(x):
    """A convolution that takes the left and the right neighbour alike: where the order is reversed, it does not notice."""
    padded = F.pad(x, (0, 0, 1, 1))
    return x + (padded[:-2] + padded[2:]) @ VALUE / 2


def _at(length):
    """Places are added where there are so many rows, and nowhere else."""
    return lambda x: attention(x + (len(x) == length) * PLACES[: len(x)])


def _at_row(place, length):
    """Of so many rows, one has a first entry that is larger by 0.0002: a test that compares a single row rarely meets it."""

    def model(x):
        y = attention(x)
        if len(x) == length:
            y[place, 0] += 0.0002
        return y

    return model


AWARE = {
    lambda x: attention(x + PLACES[: len(x)]): "a model that notices the order: positions are added",
    causal_attention: "a model that notices the order: a causal mask",
    causal_convolution: "a model that notices the order: a convolution",
    recurrent: "a model that notices the order: a recurrent network",
    lambda x: each_by_itself(x) + x[0]: "a model that notices the order: the first row counts more",
    lambda x: attention(x + F.pad(PLACES[6:max(len(x), 6)], (0, 0, min(len(x), 6), 0))): "a model that notices the order only in long sequences, from eight rows on",
    lambda x: x[x[:, 0].argsort()]: "a model that notices the order: its output is sorted, and does not move along with the rows",
    running_mean: "a model that notices the order: a running mean",
    lambda x: each_by_itself(x) + x[-1] / 2: "a model that notices the order: the last row counts more",
    lambda x: x + x.roll(1, 0) / 2 - x.roll(-1, 0) / 3: "a model that notices the order: each row sees its neighbours, round in a circle",
    _both_neighbours: "a model that notices the order: each row treats both neighbours alike",
    lambda x: each_by_itself(x).flip(0): "a model that notices the order: rows are returned in reverse order",
    lambda x: attention(x) + PLACES[: len(x)] / 100: "a model that notices the order weakly: a hundredth of each position is added",
    lambda x: convolution(x, 1): "a model that notices the order: a centred convolution",
    lambda x: x + x.roll(2, 0) / 2: "a model that notices the order: each row sees the one two positions before, round in a circle",
    lambda x: x + (x.abs() > 0.1) * x.roll(1, 0): "a model that notices the order: where an entry is above a tenth, the previous row's entry is added",
    lambda x: x + F.pad(x[:, 3:].roll(1, 0), (3, 0)): "a model that notices the order: the last feature of the row before is added",
    lambda x: x + F.pad(x[:, :1].roll(1, 0), (0, 3)): "a model that notices the order: the first feature of the row before is added",
    lambda x: attention(x) + PLACES[: len(x)] / 2000: "a model that notices the order very weakly: a two-thousandth of each position is added",
    lambda x: each_by_itself(x) * (-1.0) ** torch.arange(len(x))[:, None]: "a model that notices the order: every other row has the opposite sign",
    lambda x: torch.stack([row.roll(n) for n, row in enumerate(each_by_itself(x))]): "a model that notices the order: the entries of each row are moved on by its position",
    lambda x: attention(x) + torch.arange(len(x))[:, None] / 10: "a model that notices the order: a tenth of the position is added to every entry of a row",
    **{_at(T): f"a model that notices the order only of {T} rows" for T in (4, 7, 10, LONGEST)},
    **{
        _at_row(place, T): f"a model that notices the order only of {T} rows, and only in the {name} row, where one entry is larger by 0.0002"
        for T in (LONGEST - 1, LONGEST)
        for place, name in ((0, "first"), (-1, "last"))
    },
}  # fmt: skip

task = Task(
    __name__,
    "a test that finds models which notice order",
    arguments=("model",),
    result="verdict",
    candidates=tuple(map(without_gradient, (*UNAWARE, *AWARE))),
    suspects=False,
    difficulty=3,
    importance=4,
    minutes=15,
)


one_case_each(task, UNAWARE, AWARE, verdict=False)


_mistaken = order_mistakes(task, lambda before, order: before[order])
_mistaken("outputs_not_reordered", follow=lambda before, order: before)
_mistaken("reordered_twice", follow=lambda before, order: before[order.argsort()])
_mistaken("sums_compared", same=lambda before, after: torch.allclose(before.sum(0), after.sum(0), atol=1e-4))


@task.mistake()
def columns_reordered(model):
    draw, order = torch.Generator().manual_seed(6), torch.tensor([2, 0, 3, 1])
    rows = [torch.randn(T, WIDTH, generator=draw) for T in range(1, LONGEST + 1)]
    return not all(equal_up_to_rounding(model(x)[:, order], model(x[:, order])) for x in rows)
