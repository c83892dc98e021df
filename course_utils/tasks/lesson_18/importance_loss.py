"""Task 18.importance_loss: a loss that is small where all experts get as much of the gates."""

from operator import sub, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_18._gates import sparse_gates
from course_utils.tasks.shares import USUAL

task = Task(
    "18.importance_loss",
    "the same importance for all",
    arguments=("gates B×N",),
    result="loss",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "First comes the importance: one number per expert, the sum of its gates over the batch. The variance of these N numbers says how far they are apart. It grows with the size of the batch, and the division by their squared mean takes that out again.",
        "Take two rows with the gates [0.5, 0.5, 0] and [0.25, 0, 0.75]. The importance of the three experts is 0.75, 0.5 and 0.75, with the mean 0.6667. The differences from it are 0.0833, -0.1667 and 0.0833, and the mean of their squares is 0.0139. Divided by 0.6667² = 0.4444 that is 0.0312.",
        "importance = the sum of gates over the batch, axis 0; mean = its mean; variance = the mean of the squares of importance minus mean; return variance divided by the square of mean. There is no root in it, so there is nothing that could be divided by 0.",
    ),
    partial=USUAL
    | {
        "root_at_zero": (0.75, "right wherever the experts are not in perfect balance."),
    },
)


@task.property
def a_square_is_not_negative(case, value):
    """Nor is it for one expert."""
    return f"A square is never below 0; yours is {value:.4g}." if value < -1e-5 else None


@task.property
def the_size_of_the_gates_does_not_matter(case, value):
    """Doubled gates have the doubled mean, and a variance four times as large."""
    return (
        f"For the input “{case.name}” you get {value:.4g}, which is not what balanced gates should give: 0."
        if value.abs() > 1e-4 and "balance" in case.name
        else None
    )


@task.cases
def _(draw):
    for B, N, k in ((1, 2, 2), (2, 2, 2), (1, 3, 2), (2, 3, 3), (3, 5, 5)):
        yield Case(f"{count(B, 'row')}, {N} experts", (_uneven(draw, B, N, k),), N == 5)
    yield Case("7 rows, 5 experts, 2 gates in each row", (_uneven(draw, 7, 5, 2),), True)
    yield Case("as many rows as experts", (_uneven(draw, 5, 5, 3),))
    yield Case("2 rows, 7 experts", (_uneven(draw, 2, 7, 7),), True)
    yield Case("gates that do not sum to 1", (_uneven(draw, 3, 5, 5) * draw.whole(1, 5, 3, 1) / 4,), True)
    yield Case("perfect balance", (torch.full((3, 5), 0.2),), True, edge=True)
    turns = torch.eye(5)[draw.distinct(5, 0, 5)]
    yield Case("perfect balance, one expert for each row", (turns,), True, edge=True)
    yield Case("a single expert, which is in balance", (torch.ones(3, 1),), True, edge=True)
    alone = torch.nn.functional.one_hot(draw.whole(0, 5, 1), 5).float().expand(3, 5).clone()
    yield Case("one expert for all rows", (alone,), True, edge=True)
    unused = _uneven(draw, 3, 5, 5)
    unused[:, draw.whole(0, 5, 1)] = 0
    yield Case("an expert without gates", (unused,), True, edge=True)
    yield Case("gates of about a hundredth", (_uneven(draw, 3, 5, 5) / 32,), edge=True)
    yield Case("200 rows", (sparse_gates(draw, 200, 7, 2),), True, edge=True)
    yield Case("float64 numbers", (sparse_gates(draw, 3, 5, 5, torch.float64),), True, edge=True)


def _uneven(draw, B, N, k):
    """Gates of which the first expert gets more than the last."""
    gates = sparse_gates(draw, B, N, k)
    lean = gates * (1 + torch.arange(N, 0, -1))
    return lean / lean.sum(1, keepdim=True)


@task.oracle
def _(gates):
    importance = [sum(column) for column in gates.T]
    mean = sum(importance) / len(importance)
    return sum((one - mean) ** 2 for one in importance) / len(importance) / mean**2


@task.steps
def _(gates):
    importance = yield "the importance of each expert", lambda gates: gates.sum(0), gates
    mean = yield "its mean", torch.mean, importance
    off = yield "importance minus its mean", sub, importance, mean
    squares = yield "its square", torch.square, off
    variance = yield "the variance", torch.mean, squares
    below = yield "the square of the mean", torch.square, mean
    loss = yield "the variance divided by the squared mean", truediv, variance, below
    return loss


def _importance(gates):
    return gates.sum(0)


def _variance(importance):
    return importance.var(correction=0)


def _squared_mean(importance):
    return importance.mean() ** 2


def _loss(gates, importance=_importance, variance=_variance, below=_squared_mean, end=lambda loss: loss):
    totals = importance(gates)
    return end(variance(totals) / below(totals))


def _mistake(name, sentence, **parts):
    """Register a loss that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda gates: _loss(gates, **parts))


# The importance

_mistake(
    "summed_over_the_experts",
    "You add up over the experts, axis 1. Each row of gates sums to 1 in most layers, so nothing would be left to learn. Add up over the batch, axis 0: one number per expert.",
    importance=lambda gates: gates.sum(1),
)
_mistake(
    "not_summed",
    "You take mean and variance of all gates of the batch. Add up the gates of each expert over the batch first: what a single row prefers should cost nothing as long as others prefer something else.",
    importance=lambda gates: gates,
)
_mistake(
    "gates_counted",
    "You count how many rows give a gate to each expert. That is its load, for which the paper has another loss. The importance is the sum of the gates themselves, through which a gradient flows.",
    importance=lambda gates: (gates > 0).to(gates.dtype).sum(0),
)
_mistake(
    "largest_gates_counted",
    "You count how often each expert has the largest gate of a row. Then no gradient flows. The importance is the sum of its gates.",
    importance=lambda gates: torch.nn.functional.one_hot(gates.argmax(1), gates.shape[1]).to(gates.dtype).sum(0),
)
_mistake(
    "largest_gate",
    "You take each expert's largest gate. The importance is the sum of its gates over the batch.",
    importance=lambda gates: gates.amax(0),
)
_mistake(
    "squares_summed",
    "You add up the squares of each expert's gates. Add up the gates.",
    importance=lambda gates: gates.square().sum(0),
)
_mistake(
    "softmax_of_the_gates",
    "You take a softmax of the gates first. They are gates already: add them up as they are.",
    importance=lambda gates: gates.softmax(1).sum(0),
)
_mistake(
    "softmax_of_the_importance",
    "You take a softmax of the importance. Take its variance as it is.",
    importance=lambda gates: gates.sum(0).softmax(0),
)
_mistake(
    "first_row_only",
    "Only the first row of the batch counts. Add up the gates of all rows.",
    importance=lambda gates: gates[0],
)
_mistake(
    "used_experts_only",
    "You leave out experts that got no gate. They have the importance 0, and count like all others: this loss is there for experts without work.",
    importance=lambda gates: gates.sum(0)[gates.sum(0) > 0],
)


@task.mistake(
    "You take the loss of each row by itself, and the mean of these. That punishes a row for choosing. Add up over the batch first."
)
def mean_of_rows(gates):
    return torch.stack([_loss(row[None]) for row in gates]).mean()


# The variance

_mistake(
    "divided_by_one_less",
    "You divide by N - 1, as `var` and `std` do by default. Divide by N, the variance of a population: `var(correction=0)`.",
    variance=lambda importance: (importance - importance.mean()).square().sum() / torch.tensor(len(importance) - 1),
)
_mistake(
    "divided_by_one_less_below",
    "You divide by N + 1. The variance of a population divides by N.",
    variance=lambda importance: _variance(importance) * len(importance) / (len(importance) + 1),
)
_mistake(
    "sum_of_squares",
    "You add up the squared differences from the mean. The variance is their mean: divide by N.",
    variance=lambda importance: _variance(importance) * len(importance),
)
_mistake(
    "squares_not_averaged",
    "You return one number for each expert: the squared differences from the mean. The variance is their mean, a single number.",
    variance=lambda importance: (importance - importance.mean()) ** 2,
)
_mistake(
    "importance_not_reduced",
    "You return one number for each expert: its importance divided by the square of the mean. Take the variance of the importance first.",
    variance=lambda importance: importance,
)
_mistake(
    "standard_deviation_above",
    "You divide the standard deviation by the square of the mean. Either square both or neither: the variance goes with the squared mean.",
    variance=lambda importance: _variance(importance) ** 0.5,
)
_mistake(
    "absolute_differences",
    "You take the mean of the differences without their signs, and square it. Square each difference before you take the mean.",
    variance=lambda importance: (importance - importance.mean()).abs().mean() ** 2,
)
_mistake(
    "differences_not_squared",
    "The differences from the mean are not squared, so they cancel and leave 0. Square each of them first.",
    variance=lambda importance: (importance - importance.mean()).mean(),
)
_mistake(
    "mean_square",
    "You take the mean of the squares, without subtracting anything. The variance is the mean of the squared differences from the mean.",
    variance=lambda importance: importance.square().mean(),
)
_mistake(
    "range",
    "You take the difference between the largest and the smallest importance. Take the variance.",
    variance=lambda importance: importance.max() - importance.min(),
)


# What it is divided by

_mistake(
    "not_divided",
    "You return the variance. It grows with the size of the batch: divide it by the square of the mean.",
    below=lambda importance: 1.0,
)
_mistake(
    "mean_not_squared",
    "You divide the variance by the mean. Divide it by the square of the mean.",
    below=torch.mean,
)
_mistake(
    "divided_by_the_squared_sum",
    "You divide by the square of the sum of all importance. Divide by the square of its mean.",
    below=lambda importance: importance.sum() ** 2,
)
_mistake(
    "divided_by_the_mean_of_squares",
    "You divide by the mean of the squares. Divide by the square of the mean.",
    below=lambda importance: importance.square().mean(),
)
_mistake(
    "large_number_against_zero",
    "You add a number to what you divide by, and it is large enough to change the loss. The mean is never 0 here: leave this number out.",
    below=lambda importance: _squared_mean(importance) + 1e-3,
)


@task.mistake(
    "You take B / N for the mean of the importance. That is right only if each row of gates sums to 1, and even then its gradient is not. Take the mean of the importance itself."
)
def rows_that_sum_to_one(gates):
    return _loss(gates, below=lambda importance: (len(gates) / gates.shape[1]) ** 2)


# The end

_mistake(
    "not_squared",
    "You return the coefficient of variation. Return its square: leave out the root, and the gradient is finite in balance as well.",
    end=lambda loss: loss**0.5,
)
_mistake(
    "squared_twice",
    "You square the squared coefficient of variation once more. The variance divided by the squared mean is the square already.",
    end=torch.square,
)
_mistake(
    "root_at_zero",
    "The values are right, but in perfect balance the gradient is NaN: you take a root, whose slope is infinite at 0, and square it again. Divide the variance by the square of the mean, without a root.",
    variance=lambda importance: _variance(importance).sqrt() ** 2,
)
_mistake(
    "upside_down",
    "You divide the squared mean by the variance, so balance costs most. Divide the variance by the squared mean.",
    end=torch.reciprocal,
)
_mistake(
    "sign_turned",
    "Your loss has a minus, so training would make the experts as unequal as possible. Leave it out.",
    end=torch.neg,
)
_mistake(
    "divided_by_experts",
    "You divide by the number of experts once more. The variance has done that already.",
    end=lambda loss: loss,
    variance=lambda importance: _variance(importance) / len(importance),
)


@task.mistake(
    "The value is right, but the gradient is not: you cut it off at the mean with `detach`. The mean depends on the gates as well."
)
def mean_cut_off(gates):
    return _loss(gates, below=lambda importance: _squared_mean(importance).detach())


@task.mistake(
    "The value is right, but no gradient reaches the gates, so the loss would change nothing. Leave out `detach`, `.item()` and numpy."
)
def gradient_cut(gates):
    return _loss(gates.detach())
