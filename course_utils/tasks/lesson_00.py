"""What lesson 00 asks: one weighted sum, to meet a check, a hint and a solution."""

import torch

from course_utils.checks.contract import Case
from course_utils.checks.task import Task, sizes

weighted_sum = Task(
    "00.weighted_sum",
    "a weighted sum of vectors",
    arguments=("weights S", "values S×D"),
    result="sum D",
    hints=(
        "Each vector counts as much as its weight says: stretch each one by its weight, then add them all up.",
        "In symbols: sum_d = Σ_s weights_s · values_(s,d). The result has one number for each of the D features.",
        "Start with zeros of length D. For each s: add `weights[s] * values[s]`. Or in one step: `weights` (S) times `values` (S×D) as a matrix product.",
    ),
)


@weighted_sum.cases
def _(draw):
    for size in sizes(S=5, D=3):
        yield Case(f"{size.S} vectors of width {size.D}", (draw.numbers(size.S), draw.numbers(size.S, size.D)))
    yield Case("a single vector", (draw.numbers(1), draw.numbers(1, 3)), edge=True)
    yield Case("vectors of width 1", (draw.numbers(3), draw.numbers(3, 1)), edge=True)
    yield Case(
        "float64 numbers", (draw.numbers(5, dtype=torch.float64), draw.numbers(5, 3, dtype=torch.float64)), edge=True
    )


@weighted_sum.oracle
def _(weights, values):
    return torch.stack([sum(w * v for w, v in zip(weights, column, strict=True)) for column in values.T])


@weighted_sum.mistake("You add the vectors up, but each with weight 1: the weights never enter.")
def weights_unused(weights, values):
    return values.sum(0)


@weighted_sum.mistake(
    "You divide by the number of vectors at the end: that is the mean of the weighted vectors. A weighted sum only adds."
)
def mean_of_weighted(weights, values):
    return (weights[:, None] * values).mean(0)


@weighted_sum.mistake(
    "You stretch each vector by its weight, but do not add them up yet: the result should be one vector of width D."
)
def not_added(weights, values):
    return weights[:, None] * values


@weighted_sum.mistake("You add along the wrong axis: over the features of each vector instead of over the vectors.")
def added_over_features(weights, values):
    return (weights[:, None] * values).sum(1)


@weighted_sum.mistake(
    "`weights * values` lines the weights up with the last axis, the features. A weight belongs to a whole vector: "
    "give weights a second axis, `weights[:, None]`, or use a matrix product."
)
def weights_on_features(weights, values):
    return (weights * values).sum(0)


@weighted_sum.mistake(
    "You divide by the sum of the weights. That is a weighted mean; here the weights are used as they come."
)
def weighted_mean(weights, values):
    return weights @ values / weights.sum()
