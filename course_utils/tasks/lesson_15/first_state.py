"""Task 15.first_state: the state with which a decoder begins, made from the mean of a picture's annotations."""

from operator import add, matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import USUAL

task = Task(
    "15.first_state",
    "the state before the first word",
    arguments=("annotations B×L×E", "weight H×E", "bias H"),
    result="state B×H",
    difficulty=1,
    importance=4,
    minutes=10,
    hints=(
        "Before the first word nothing has been said, so there is nothing yet by which some place of the picture could be preferred. Every place counts alike, and the state is made from the mean of them all.",
        "Take a picture with the two annotations [1, 0] and [3, 4]. Their mean is [2, 2]. With the weight [[1, -1], [0.5, 0]] and the bias [0, -1], the sums are 2·1 + 2·(-1) + 0 = 0 and 2·0.5 + 2·0 - 1 = 0; the state is [0, 0]. With the bias [1, 0] they are 1 and 1, and the state is [0.7616, 0.7616].",
        "mean = annotations averaged over the L places, B×E; product = mean times weight transposed, B×H; return tanh of product plus bias.",
    ),
    partial=USUAL,
)


@task.property
def states_lie_between_minus_one_and_one(case, value):
    """tanh has no other values."""
    most = value.abs().max()
    return f"tanh lies between -1 and 1; one of your numbers is {most:.4g} in size." if most > 1 + 1e-4 else None


def _inputs(draw, B, L, E, H, dtype=torch.float32):
    weight, bias = draw.numbers(H, E, dtype=dtype) / 2 + 0.125, draw.numbers(H, dtype=dtype) / 2 + 0.125
    return draw.numbers(B, L, E, dtype=dtype) + 0.25, weight, bias


@task.cases
def _(draw):
    for size in sizes(B=3, L=5, E=7, H=11):
        name = f"{count(size.B, 'picture')} of {count(size.L, 'place')}, widths E={size.E}, H={size.H}"
        yield Case(name, _inputs(draw, size.B, size.L, size.E, size.H), size.full)
    yield Case("as many places as widths", _inputs(draw, 3, 5, 5, 2))
    yield Case("as many pictures as places", _inputs(draw, 3, 3, 5, 2))
    yield Case("E and H both 5", _inputs(draw, 2, 3, 5, 5))
    yield Case("a single place, widths of 1", _inputs(draw, 1, 1, 1, 1), True, edge=True)
    yield Case("2 pictures of a single place", _inputs(draw, 2, 1, 3, 5), True, edge=True)
    yield Case("196 places", _inputs(draw, 2, 196, 3, 5), True, edge=True)
    annotations, weight, _ = _inputs(draw, 3, 5, 7, 2)
    yield Case("sums near ±5", (annotations, weight / 8, torch.tensor([5.0, -5.25])), edge=True)
    far = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])[draw.distinct(3, 0, 3)]
    near = torch.stack([far * 1.5, far * 0.5], 1)  # whose mean is `far`
    large = (near, torch.tensor([[5e3, 5e3], [0.5, 0.25]]), torch.tensor([0.0, 0.125]))
    yield Case("sums of ±10,000", large, True, hazard=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, 2, torch.float64), True, edge=True)


@task.oracle
def _(annotations, weight, bias):
    rows = []
    for picture in annotations:
        mean = [sum(place[e] for place in picture) / len(picture) for e in range(picture.shape[1])]
        sums = [sum(w * m for w, m in zip(row, mean, strict=True)) + b for row, b in zip(weight, bias, strict=True)]
        rows.append(2 * torch.sigmoid(2 * torch.stack(sums)) - 1)
    return torch.stack(rows)


@task.steps
def _(annotations, weight, bias):
    mean = yield "the mean over the places", lambda annotations: annotations.mean(1), annotations
    product = yield "the product of the mean and weight", matmul, mean, weight.mT
    sums = yield "the product plus bias", add, product, bias
    state = yield "the state", torch.tanh, sums
    return state


def _mean(annotations):
    return annotations.mean(1)


def _state(annotations, weight, bias, pool=_mean, end=torch.tanh):
    return end(pool(annotations) @ weight.T + bias)


def _mistake(name, sentence, **parts):
    """Register a state that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda annotations, weight, bias: _state(annotations, weight, bias, **parts))


# From annotations to a mean

_mistake(
    "summed",
    "You add the annotations up. Take their mean: divide by the number of places, or a finer grid would give larger numbers.",
    pool=lambda annotations: annotations.sum(1),
)
_mistake(
    "largest",
    "You take the largest number of each feature over the places. Take the mean over the places.",
    pool=lambda annotations: annotations.amax(1),
)
_mistake(
    "first_place",
    "Only the first place of the picture counts. Take the mean over all places.",
    pool=lambda annotations: annotations[:, 0],
)
_mistake(
    "last_place",
    "Only the last place of the picture counts. The last state of an encoder of sentences has read all words, but the last place of a picture is only a corner of it: take the mean over all places.",
    pool=lambda annotations: annotations[:, -1],
)
_mistake(
    "middle_value",
    "You take the median of each feature over the places. Take the mean.",
    pool=lambda annotations: annotations.median(1).values,
)
_mistake(
    "mean_over_features",
    "You take the mean over the features of each annotation, the last axis. This runs without an error only where there are as many places as features. Take the mean over the places, axis 1.",
    pool=lambda annotations: annotations.mean(2),
)
_mistake(
    "mean_over_the_batch",
    "You take the mean over the pictures of the batch, the first axis. Each picture has a state of its own: take the mean over the places, axis 1.",
    pool=lambda annotations: annotations.mean(0),
)
_mistake(
    "one_state_for_all",
    "Every picture gets the same state: your mean runs over the pictures of the batch as well. Take the mean over the places alone, axis 1.",
    pool=lambda annotations: annotations.mean((0, 1)).expand(len(annotations), -1),
)
_mistake(
    "divided_by_the_width",
    "You divide the sum of the annotations by their width E. Divide by the number of places, L.",
    pool=lambda annotations: annotations.sum(1) / annotations.shape[2],
)
_mistake(
    "divided_by_the_batch",
    "You divide the sum of the annotations by the number of pictures. Divide by the number of places, L.",
    pool=lambda annotations: annotations.sum(1) / annotations.shape[0],
)
_mistake(
    "cut_anew",
    "You regroup the numbers of L×E as E×L: `view` and `reshape` leave their order as it is, so a row then holds features of several places. To exchange two axes, use `transpose`; here a mean over axis 1 needs neither.",
    pool=lambda annotations: annotations.reshape(len(annotations), annotations.shape[2], -1).mean(2),
)
_mistake(
    "not_averaged",
    "You return one state for each place, B×L×H. Take the mean over the places first.",
    pool=lambda annotations: annotations,
)
_mistake(
    "axis_kept",
    "Your result has an axis of size 1 too many: B×1×H. One state for each picture is asked for, B×H.",
    pool=lambda annotations: annotations.mean(1, keepdim=True),
)
_mistake(
    "normalised_mean",
    "You scale the mean to length 1. Use the mean as it is.",
    pool=lambda annotations: torch.nn.functional.normalize(annotations.mean(1), dim=-1),
)


# From the mean to the state

_mistake("no_tanh", "tanh is missing: it stands around the whole sum.", end=lambda sums: sums)
_mistake("with_relu", "You use ReLU. The state has tanh here, so that it lies between -1 and 1.", end=torch.relu)
_mistake(
    "with_sigmoid",
    "You use the logistic sigmoid, so every number lies above 0. The state has tanh here, and lies between -1 and 1.",
    end=torch.sigmoid,
)
_mistake("tanh_twice", "tanh is applied twice. Apply it once, at the end.", end=lambda sums: sums.tanh().tanh())
_mistake(
    "with_softmax",
    "You take a softmax over the numbers of a state. They do not share anything: each gets tanh.",
    end=lambda sums: sums.softmax(-1),
)
_mistake(
    "overflow",
    "exp overflows: for a number above about 88 it is infinite in float32, and so is the exponential of minus that number for one below -88. Infinity divided by infinity is NaN. torch.tanh takes numbers of any size.",
    end=lambda sums: (sums.exp() - (-sums).exp()) / (sums.exp() + (-sums).exp()),
)
_mistake(
    "overflow_above",
    "For large sums you return NaN: the exponential of twice a number above about 44 is infinite in float32, and infinity divided by infinity is NaN. torch.tanh takes numbers of any size.",
    end=lambda sums: ((2 * sums).exp() - 1) / ((2 * sums).exp() + 1),
)


@task.mistake("The bias has no effect. Add it to the product, before tanh.")
def bias_unused(annotations, weight, bias):
    return _state(annotations, weight, 0 * bias)


@task.mistake("You add the bias after tanh, so a state may lie outside -1 and 1. Add it before.")
def bias_outside(annotations, weight, bias):
    return _state(annotations, weight, 0 * bias) + bias


@task.mistake(
    "You turn each annotation into a state and take the mean of these states. tanh is no straight line, so that is not the same: take the mean of the annotations first."
)
def mean_of_states(annotations, weight, bias):
    return torch.tanh(annotations @ weight.T + bias).mean(1)


@task.mistake("tanh stands around the mean of the annotations. It belongs around the whole sum, at the end.")
def tanh_of_the_mean(annotations, weight, bias):
    return annotations.mean(1).tanh() @ weight.T + bias


@task.mistake(
    "weight is H×E. For rows of vectors it has to be transposed: `.T`. Without that it runs on only where E = H, and gives a wrong result there."
)
def not_transposed(annotations, weight, bias):
    return _state(annotations, weight.T, bias)


@task.mistake(
    "The annotations have no effect: this is tanh of the bias, the same for every picture. Add the product of weight and the mean annotation."
)
def annotations_unused(annotations, weight, bias):
    return torch.tanh(0 * (annotations.mean(1) @ weight.T) + bias)


@task.mistake(
    "You divide by the number of places twice: the mean has done so already. Take the mean, and leave it as it is."
)
def divided_twice(annotations, weight, bias):
    return _state(annotations, weight, bias, pool=lambda annotations: annotations.mean(1) / annotations.shape[1])
