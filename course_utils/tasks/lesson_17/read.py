"""Task 17.read: what a head takes out of a memory."""

from operator import mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.lesson_17._drawn import drawn_gates, drawn_weights, one_hot
from course_utils.tasks.shares import USUAL

task = Task(
    "17.read",
    "reading is attention",
    arguments=("memory B×N×W", "weights B×N"),
    result="read B×W",
    difficulty=1,
    importance=5,
    minutes=5,
    hints=(
        "A head does not read one place. It reads all of them, each as much as its weight says: what it gets is the weighted sum of the places, as the context of attention is.",
        "Take a memory with the places [1, 2], [3, 0] and [5, 4], and the weights 0.5, 0.25 and 0.25. The first number that is read is 0.5·1 + 0.25·3 + 0.25·5 = 2.5, and the second is 0.5·2 + 0.25·0 + 0.25·4 = 2.",
        "Give weights a third axis of size 1, so that each multiplies all W numbers of its place; multiply by memory; add up over the places, axis 1.",
    ),
    partial=USUAL,
)


@task.property
def a_mean_lies_among_its_numbers(case, value):
    """What is read lies between the smallest and the largest number that stand in its column."""
    memory, weights = case.args
    whole = (weights.sum(1) - 1).abs() < 1e-4
    outside = ((value > memory.amax(1) + 1e-3) | (value < memory.amin(1) - 1e-3)) & whole[:, None]
    if not outside.any():
        return None
    row, column = divmod(int(outside.int().argmax()), value.shape[1])
    among = ", ".join(f"{number:.4g}" for number in memory[row, :3, column])
    more = "" if memory.shape[1] <= 3 else " and so on"
    return f"Weights that sum to 1 give a mean. In column {column} of row {row} the places hold {among}{more}, and what you read, {value[row, column]:.4g}, lies outside them."


def _inputs(draw, B, N, W, dtype=torch.float32):
    return draw.numbers(B, N, W, dtype=dtype) + 0.25, drawn_weights(draw, B, N, dtype)


@task.cases
def _(draw):
    for size in sizes(B=3, places=7, W=5):
        name = f"a batch of {size.B}, {size.places} places of width {size.W}"
        yield Case(name, _inputs(draw, size.B, size.places, size.W), size.full)
    yield Case("as many rows in the batch as places", _inputs(draw, 5, 5, 3))
    yield Case("as many places as numbers in each", _inputs(draw, 3, 5, 5), True)
    yield Case("B, N and W all 3", _inputs(draw, 3, 3, 3))
    yield Case("weights at one place", (draw.numbers(3, 5, 7), one_hot(draw, 3, 5)), edge=True)
    memory, weights = _inputs(draw, 3, 5, 7)
    less = weights * drawn_gates(draw, 3)[:, None]
    yield Case("weights that sum to less than 1", (memory, less), True, edge=True)
    yield Case("weights of zeros", (memory, 0 * weights), True, edge=True)
    yield Case("a single place of width 1", _inputs(draw, 3, 1, 1), True, edge=True)
    yield Case("numbers near ±10,000", (memory * 1e4, weights), True, hazard=True)
    yield Case("200 places", _inputs(draw, 2, 200, 3), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, 5, torch.float64), True, edge=True)


@task.oracle
def _(memory, weights):
    return torch.stack(
        [
            sum(w * place for w, place in zip(row, places, strict=True))
            for row, places in zip(weights, memory, strict=True)
        ]
    )


@task.steps
def _(memory, weights):
    weighed = yield "the places times their weights", mul, weights[:, :, None], memory
    read = yield "the sum over the places", lambda weighed: weighed.sum(1), weighed
    return read


def _weighed(memory, weights):
    return weights[:, :, None] * memory


def _mistake(name, sentence, weigh=_weighed, join=lambda weighed: weighed.sum(1), weighing=lambda weights: weights):
    """Register a reading that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda memory, weights: join(weigh(memory, weighing(weights))))


_mistake(
    "weights_unused",
    "The weights have no effect: you add up all places. Multiply each by its weight first.",
    weighing=torch.ones_like,
)
_mistake(
    "mean_of_the_places",
    "The weights have no effect: you take the plain mean of the places. Multiply each by its weight, and add up.",
    weighing=lambda weights: torch.ones_like(weights) / weights.shape[1],
)
_mistake(
    "divided_by_the_places",
    "You divide the weighted sum by the number of places. The weights sum to 1 already: add up, without a mean.",
    join=lambda weighed: weighed.mean(1),
)
_mistake(
    "renormalised",
    "You divide by the sum of the weights. Where they sum to less than 1 the head reads less, and where all are 0 it reads zeros: add up, and divide by nothing.",
    weighing=lambda weights: weights / weights.sum(1, keepdim=True),
)
_mistake(
    "softmax_again",
    "You apply a softmax to the weights, which makes them nearly even. They come from one: use them as they are.",
    weighing=lambda weights: weights.softmax(-1),
)
_mistake(
    "likeliest_place_only",
    "You read the place with the largest weight, and no other. Then no gradient reaches the weights: read all places, each with its weight.",
    weighing=lambda weights: torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype),
)
_mistake(
    "largest_place_weighed",
    "At each column you take the largest of the weighted numbers. Add them up.",
    join=lambda weighed: weighed.amax(1),
)
_mistake(
    "first_weights_for_all",
    "All rows of the batch read with the weights of the first one. Each has its own.",
    weighing=lambda weights: weights[:1].expand_as(weights),
)
_mistake(
    "first_memory_for_all",
    "All rows of the batch read from the first memory. Each has its own.",
    weigh=lambda memory, weights: _weighed(memory[:1].expand_as(memory), weights),
)
_mistake(
    "memories_mixed",
    "All rows of the batch read from the sum of their memories. Each has its own: add up over the places only, axis 1.",
    weigh=lambda memory, weights: _weighed(memory.sum(0, keepdim=True), weights),
)
_mistake(
    "weights_along_the_width",
    "Your weights meet the numbers within a place: weight 1 multiplies number 1 of every place. This runs without an error only where there are as many places as numbers in each. Give the weights a third axis of size 1, `[:, :, None]`.",
    weigh=lambda memory, weights: weights[:, None] * memory,
)
_mistake(
    "weights_without_their_axis",
    "Your weights are B×N where B×N×1 is needed, so they meet the wrong axes, and this runs without an error only where sizes happen to fit. Give them a third axis of size 1, `weights[:, :, None]`.",
    weigh=lambda memory, weights: weights * memory,
)
_mistake(
    "summed_over_the_width",
    "You add up the numbers within each place, which gives B×N. Add up over the places, axis 1: what is read is as wide as a place.",
    join=lambda weighed: weighed.sum(2),
)
_mistake(
    "not_summed",
    "You return the places times their weights, B×N×W. Add them up over the places.",
    join=lambda weighed: weighed,
)
_mistake(
    "summed_over_the_batch_too",
    "You add up over the batch as well. Each row reads for itself: add up over the places only, axis 1.",
    join=lambda weighed: weighed.sum((0, 1)),
)
_mistake(
    "axis_kept",
    "Your result has an axis of size 1 too many: B×1×W, as `weights[:, None] @ memory` gives it. Remove it: B×W.",
    join=lambda weighed: weighed.sum(1, keepdim=True),
)
_mistake(
    "every_head_in_every_memory",
    "Your result is B×B×W: each row of weights reads from every memory of the batch, as `weights @ memory` does where it runs. Each reads from the memory of its own row: give the weights an axis of size 1 in the middle before the product.",
    weigh=lambda memory, weights: weights[None, :, :, None] * memory[:, None],
    join=lambda weighed: weighed.sum(2),
)
_mistake(
    "cut_anew",
    "You regroup the numbers of N×W as W×N: `view` and `reshape` leave their order as it is, so what you take for a column holds numbers of several. To exchange two axes, use `.mT` or `transpose`.",
    weigh=lambda memory, weights: weights[:, None] * memory.reshape(len(memory), memory.shape[2], -1),
    join=lambda weighed: weighed.sum(2),
)
_mistake(
    "weights_squared",
    "The weights are multiplied twice. Multiply each place by its weight once.",
    weighing=lambda weights: weights**2,
)
_mistake(
    "one_minus",
    "You weigh each place by 1 minus its weight. A place with a weight of 1 is the one to be read: use the weights as they are.",
    weighing=lambda weights: 1 - weights,
)
