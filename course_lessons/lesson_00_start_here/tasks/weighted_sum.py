"""Task 00.weighted_sum: a weighted sum of vectors."""

from operator import mul

import torch

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "00.weighted_sum",
    "a weighted sum of vectors",
    arguments=("weights S", "values S×D"),
    result="sum D",
    difficulty=1,
    importance=5,
    minutes=5,
    gradient_optional=True,  # the first exercise says nothing of gradients
    hints=(
        "Each vector counts in proportion to its weight. Multiply each vector by its weight, then add up the results.",
        (
            "Take the weights 2 and 3 and the vectors [1, 0] and [4, 5]. Multiplied by their weights, the vectors are [2, 0] and [12, 15]. Their "
            "sum is [14, 15], one number for each feature."
        ),
        (
            "Start with zeros of length D. For each s, add `weights[s] * values[s]`. Or do it in one step, as the matrix product of weights (S) "
            "and values (S×D)."
        ),
    ),
)


def _weights(draw, S):
    """Weights whose sum is not 0, 1 or S, and not all of them alike: each mistake shows in numbers that can be read."""
    while True:
        weights = draw.numbers(S)
        if weights.sum() not in (0, 1, S) and (S == 1 or weights.unique().numel() > 1):
            return weights


@task.cases
def _(draw):
    for size in sizes(S=5, D=3):
        name = f"{count(size.S, 'vector')} of width {size.D}"
        yield Case(name, (_weights(draw, size.S), draw.numbers(size.S, size.D)), size.full)
    yield Case("a single vector", (_weights(draw, 1), draw.numbers(1, 3)), edge=True)
    yield Case("vectors of width 1", (_weights(draw, 3), draw.numbers(3, 1)), edge=True)


@task.steps
def _(weights, values):
    weighted = yield "the weighted vectors", mul, weights[:, None], values
    total = yield "the sum over the vectors", lambda weighted: weighted.sum(0), weighted
    return total


task.changed_each(
    ("mean_of_weighted", "You divide by the number of vectors at the end, so this is the mean of the weighted vectors. A weighted sum is not divided by anything.", {"the sum over the vectors": lambda weighted: weighted.mean(0)}),
    ("not_added", "You multiply each vector by its weight, but you do not add them up yet. The result should be one vector of width D.", {"the sum over the vectors": left_out}),
    ("only_the_last", "Your result is the last vector times its weight: each pass through the loop overwrites the previous result. Write `total = total + …`, or `total += …`.", {"the sum over the vectors": lambda weighted: weighted[-1]}),
    ("added_over_features", "You sum along the wrong axis: over the features of each vector. Sum over the vectors instead.", {"the sum over the vectors": lambda weighted: weighted.sum(1)}),
    ("zeros_as_many_as_weights", "Your sum starts with one zero for each weight. It needs one for each feature: `torch.zeros(values.shape[1])`. With S zeros most inputs give an error.", {"the sum over the vectors": lambda weighted: sum(weighted, weighted.new_zeros(len(weighted)))}),
)  # fmt: skip

task.changed_each(
    ("weights_unused", "You add up the vectors, but each with weight 1: the weights are never used.", {"weights": torch.ones_like}),
    ("weighted_mean", "You divide by the sum of the weights, which gives a weighted mean. Here the weights are used as they are.", {"result": lambda total, *, weights: total / weights.sum()}),
    ("first_vector_twice", "You start from the first vector and then add all the weighted vectors, so the first one counts once too often. Start from zeros.", {"result": lambda total, *, values: values[0] + total}),
)  # fmt: skip

on_features = {"the weighted vectors": lambda _, values, *, weights: weights * values}
task.changed(
    "weights_on_features",
    "`weights * values` lines the weights up with the last axis, the features. But a weight belongs to a whole vector: give weights a second axis, `weights[:, None]`, or use a matrix product.",
    on_features,
)
task.changed(
    "weights_on_features_not_added",
    "`weights * values` lines the weights up with the features, the columns of values, not with the vectors, its rows. `weights[:, None]` lines them up with the vectors. After that the weighted vectors still have to be added up.",
    on_features | {"the sum over the vectors": left_out},
)
