"""Task 12.feed_forward: two layers with a ReLU between them, for each word by itself."""

from operator import add, matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "12.feed_forward",
    "two layers for each word by itself",
    arguments=("x B×T×D", "weight_1 F×D", "bias_1 F", "weight_2 D×F", "bias_2 D"),
    result="y B×T×D",
    difficulty=1,
    importance=4,
    minutes=10,
    hints=(
        "Attention moves information between words. The feed-forward network does not: it works on each word's vector by itself. The first layer makes the vector wider, the ReLU keeps its positive numbers and puts 0 in place of the others, and the second layer brings it back to its width. Without the ReLU, two layers would be no more than one.",
        (
            "Take one word [1, 2], weight_1 with the rows [1, 0], [0, 1] and [1, -1], bias_1 [0, 0.5, 0], weight_2 with the rows [1, 0, 4] and [0, 2, 4], and bias_2 [1, -1]. The first layer gives 1, 2 + 0.5 = 2.5 and 1 - 2 = -1. The ReLU makes [1, 2.5, 0] of them. "
            "The second layer gives 1·1 + 1 = 2 and 2·2.5 - 1 = 4."
        ),
        "hidden = x times weight_1 transposed, plus bias_1; zeros in place of its negative numbers; then times weight_2 transposed, plus bias_2.",
    ),
)


def _inputs(draw, B, T, D, F, dtype=torch.float32):
    x, weight_1, weight_2 = (draw.numbers(*shape, dtype=dtype) for shape in ((B, T, D), (F, D), (D, F)))
    weight_1, weight_2 = weight_1 + 0.25 * (weight_1 == 0), weight_2 + 0.25 * (weight_2 == 0)
    # Products of halves and quarters are multiples of an eighth: with a sixteenth no unit is at exactly 0.
    bias_1 = draw.whole(-4, 5, F).to(dtype) / 4 + 0.0625
    return x, weight_1, bias_1, weight_2, draw.whole(-4, 5, D).to(dtype) / 2 + 0.25


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, D=5, F=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, width {size.D}, {size.F} units between"
        yield Case(name, _inputs(draw, size.B, size.T, size.D, size.F), size.full)
    yield Case("as wide between as outside", _inputs(draw, 2, 3, 4, 4))
    yield Case("as many words as the width", _inputs(draw, 2, 5, 5, 3))
    x, weight_1, bias_1, *rest = _inputs(draw, 2, 3, 3, 5)
    yield Case("every unit at 0 after the ReLU", (x, weight_1, bias_1 - 100, *rest), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 3, 5, 7, torch.float64), True, edge=True)
    x, *rest = _inputs(draw, 2, 3, 5, 7)
    yield Case("numbers near 10,000", (10_000 * x, *rest), True, hazard=True)
    yield Case("200 words", _inputs(draw, 1, 200, 3, 5), edge=True)


@task.oracle
def _(x, weight_1, bias_1, weight_2, bias_2):
    first, second = torch.nn.Linear(*weight_1.T.shape), torch.nn.Linear(*weight_2.T.shape)
    hidden = torch.func.functional_call(first, {"weight": weight_1, "bias": bias_1}, x).clamp(min=0)
    return torch.func.functional_call(second, {"weight": weight_2, "bias": bias_2}, hidden)


@task.steps
def _(x, weight_1, bias_1, weight_2, bias_2):
    turned = yield "weight_1 transposed", lambda weight: weight.mT, weight_1
    product = yield "the product of x and weight_1", matmul, x, turned
    before = yield "the first layer's result", add, product, bias_1
    hidden = yield "the first layer's result after the ReLU", torch.relu, before
    turned = yield "weight_2 transposed", lambda weight: weight.mT, weight_2
    product = yield "the product of the hidden layer and weight_2", matmul, hidden, turned
    y = yield "the product plus bias_2", add, product, bias_2
    return y


def _network(
    x, weight_1, bias_1, weight_2, bias_2, before=lambda x: x, between=torch.relu, after=lambda y: y, biases=(1, 1)
):
    hidden = between(before(x) @ weight_1.T + biases[0] * bias_1)
    return after(hidden @ weight_2.T + biases[1] * bias_2)


def _mistake(name, sentence, **parts):
    def mistaken(x, weight_1, bias_1, weight_2, bias_2):
        return _network(x, weight_1, bias_1, weight_2, bias_2, **parts)

    task.mistake(sentence, name)(mistaken)


_mistake(
    "no_relu",
    "Nothing happens between the two layers. Put a ReLU there, which makes every negative number 0: without it, the two layers could be replaced by one.",
    between=lambda hidden: hidden,
)
_mistake(
    "relu_after_the_second_layer",
    "The ReLU comes after the second layer, and it should stand between the two: the result may be negative.",
    between=lambda hidden: hidden,
    after=torch.relu,
)
_mistake(
    "relu_twice",
    "A second ReLU, after the second layer, makes every negative number of the result 0. The only ReLU stands between the two layers.",
    after=torch.relu,
)
_mistake(
    "relu_before_the_first_layer",
    "The ReLU is applied to x, and it should be applied to what the first layer gives.",
    before=torch.relu,
    between=lambda hidden: hidden,
)
_mistake("bias_1_forgotten", "bias_1 is missing: it is added before the ReLU.", biases=(0, 1))
_mistake("bias_2_forgotten", "bias_2 is missing: it is added at the end.", biases=(1, 0))
_mistake("biases_forgotten", "Both biases are missing. Each layer adds its own after the product.", biases=(0, 0))
_mistake(
    "gelu",
    "You use a GELU between the layers. Many later models do, and here a ReLU is asked for, as in the paper: torch.relu.",
    between=torch.nn.functional.gelu,
)
_mistake("sigmoid", "You use a sigmoid between the layers. A ReLU is asked for: torch.relu.", between=torch.sigmoid)
_mistake("tanh", "You use a tanh between the layers. A ReLU is asked for: torch.relu.", between=torch.tanh)


@task.mistake("You add bias_1 after the ReLU. It belongs to the first layer, so add it before.")
def bias_1_after_the_relu(x, weight_1, bias_1, weight_2, bias_2):
    return (torch.relu(x @ weight_1.T) + bias_1) @ weight_2.T + bias_2


@task.mistake(
    "You add x to the result. The residual connection is not part of the feed-forward network: it is written once, around each sub-layer, in 12.sublayer."
)
def residual_added(x, weight_1, bias_1, weight_2, bias_2):
    return x + _network(x, weight_1, bias_1, weight_2, bias_2)


@task.mistake(
    "The weights are not transposed: that fits only where the width is the same between the layers and outside, and gives other numbers there. weight_1 is F×D and weight_2 D×F, as nn.Linear keeps them, and so x is multiplied by weight_1 transposed."
)
def not_transposed(x, weight_1, bias_1, weight_2, bias_2):
    return torch.relu(x @ weight_1 + bias_1) @ weight_2 + bias_2


@task.mistake(
    "You use each matrix in place of the other. weight_1 stands in the first layer, transposed, and weight_2 in the second."
)
def weights_exchanged(x, weight_1, bias_1, weight_2, bias_2):
    return torch.relu(x @ weight_2 + bias_1) @ weight_1 + bias_2


@task.mistake(
    "This is still the version to mend: it transposes neither matrix, and its ReLU comes after the second product in place of the first. weight_1 is F×D and weight_2 D×F, as nn.Linear keeps them."
)
def as_it_was(x, weight_1, bias_1, weight_2, bias_2):
    return torch.relu((x @ weight_1 + bias_1) @ weight_2 + bias_2)
