"""Task 12.feed_forward: two layers with a ReLU between them, for each word by itself."""

from operator import add, matmul

import torch

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "12.feed_forward",
    "two layers applied to each word separately",
    arguments=("x B×T×D", "weight_1 F×D", "bias_1 F", "weight_2 D×F", "bias_2 D"),
    result="y B×T×D",
    difficulty=1,
    importance=4,
    minutes=10,
    hints=(
        "Attention moves information between words. The feed-forward network does not: it works on each word's vector separately. The first layer maps the vector to F numbers, the ReLU keeps the positive numbers and replaces the others with 0, and the second layer maps them back to D numbers. Without the ReLU, the two layers would do no more than one.",
        (
            "Take one word [1, 2], weight_1 with the rows [1, 0], [0, 1] and [1, -1], bias_1 [0, 0.5, 0], weight_2 with the rows [1, 0, 4] and [0, 2, 4], and bias_2 [1, -1]. The first layer outputs 1, 2 + 0.5 = 2.5 and 1 - 2 = -1. The ReLU turns them into [1, 2.5, 0]. "
            "The second layer outputs 1·1 + 1 = 2 and 2·2.5 - 1 = 4."
        ),
        "hidden = x times weight_1 transposed, plus bias_1; its negative numbers replaced with 0; then times weight_2 transposed, plus bias_2.",
    ),
)


def _inputs(draw, B, T, D, F, dtype=torch.float32):
    x, weight_1, weight_2 = (draw.numbers(*shape, dtype=dtype) for shape in ((B, T, D), (F, D), (D, F)))
    weight_1, weight_2 = weight_1 + 0.25 * (weight_1 == 0), weight_2 + 0.25 * (weight_2 == 0)
    # Products of halves and quarters are multiples of an eighth: with a sixteenth no unit is at exactly 0.
    bias_1 = draw.whole(-4, 5, F).to(dtype) / 4 + 0.0625
    return x, weight_1, bias_1, weight_2, draw.whole(-4, 5, D).to(dtype) / 2 + 0.25


AT_0 = "every unit at 0 after the ReLU"


@task.property
def the_second_bias_is_left_where_all_units_are_0(case, value):
    """The ReLU gives zeros there, and the second layer adds its bias to nothing."""
    bias = case.args[4]
    if (
        case.name != AT_0
        or value.shape != case.args[0].shape
        or torch.allclose(value, bias.expand_as(value), atol=1e-4)
    ):
        return None
    return "All units are 0 after the ReLU there, so the result should be bias_2 for every word."


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, D=5, F=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, width {size.D}, {size.F} units between"
        yield Case(name, _inputs(draw, size.B, size.T, size.D, size.F), size.full)
    yield Case("as wide between as outside", _inputs(draw, 2, 3, 4, 4))
    yield Case("as many words as the width", _inputs(draw, 2, 5, 5, 3))
    x, weight_1, bias_1, *rest = _inputs(draw, 2, 3, 3, 5)
    yield Case(AT_0, (x, weight_1, bias_1 - 100, *rest), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 3, 5, 7, torch.float64), True, hazard=True)
    x, *rest = _inputs(draw, 2, 3, 5, 7)
    yield Case("numbers near 10,000", (10_000 * x, *rest), True, hazard=True)
    yield Case("200 words", _inputs(draw, 1, 200, 3, 5), edge=True)


@task.steps
def _(x, weight_1, bias_1, weight_2, bias_2):
    turned = yield "weight_1 transposed", lambda weight: weight.mT, weight_1
    product = yield "the product with weight_1", matmul, x, turned
    before = yield "the numbers before the ReLU", add, product, bias_1
    hidden = yield "the hidden layer", torch.relu, before
    turned = yield "weight_2 transposed", lambda weight: weight.mT, weight_2
    product = yield "the product with weight_2", matmul, hidden, turned
    y = yield "the product plus bias_2", add, product, bias_2
    return y


HIDDEN, BEFORE = "the hidden layer", "the numbers before the ReLU"
NO_BIAS_1, NO_BIAS_2 = {BEFORE: left_out}, {"the product plus bias_2": left_out}
NO_RELU, AS_THEY_ARE = {HIDDEN: left_out}, {"weight_1 transposed": left_out, "weight_2 transposed": left_out}
task.changed_each(
    ("no_relu", "Nothing happens between the two layers. Put a ReLU there, which sets negative numbers to 0: without it, the two layers could be replaced by one.", NO_RELU),
    ("relu_after_the_second_layer", "The ReLU comes after the second layer. It belongs between the two: the result may be negative.", NO_RELU | {"result": torch.relu}),
    ("relu_twice", "A second ReLU, after the second layer, sets negative numbers in the result to 0. The only ReLU is between the two layers.", {"result": torch.relu}),
    ("relu_before_the_first_layer", "The ReLU is applied to x, but it belongs after the first layer.", NO_RELU | {"x": torch.relu}),
    ("cut_anew", "You reshape the weights instead of transposing them: `view` and `reshape` do not move any numbers. `.T` swaps the two axes.", {f"{weight} transposed": (lambda weight: weight.reshape(weight.shape[::-1])) for weight in ("weight_1", "weight_2")}),
    ("negative_ones_kept", "You keep the negative numbers and set the positive ones to 0. A ReLU keeps the positive ones: max(0, …).", {HIDDEN: lambda before: before.clamp(max=0)}),
    ("magnitudes", "You use absolute values. A ReLU sets negative ones to 0.", {HIDDEN: torch.abs}),
    ("bias_1_forgotten", "bias_1 is missing: it should be added before the ReLU.", NO_BIAS_1),
    ("bias_2_forgotten", "bias_2 is missing: it is added at the end.", NO_BIAS_2),
    ("biases_forgotten", "Both biases are missing. Each layer adds its own after the product.", NO_BIAS_1 | NO_BIAS_2),
    ("bias_1_after_the_relu", "You add bias_1 after the ReLU. It belongs to the first layer, so add it before.", NO_BIAS_1 | {HIDDEN: lambda product, *, bias_1: product.relu() + bias_1}),
    ("gelu", "You use a GELU between the layers. Many later models do, but this task asks for a ReLU, as in the paper: torch.relu.", {HIDDEN: torch.nn.functional.gelu}),
    ("tanh", "You use a tanh between the layers. The task asks for a ReLU: torch.relu.", {HIDDEN: torch.tanh}),
    ("residual_added", "You add x to the result. The residual connection is not part of the feed-forward network: it is written once, around each sub-layer, in 12.sublayer.", {"result": lambda y, *, x: x + y}),
)  # fmt: skip
task.changed(
    "not_transposed",
    "The weights are not transposed: this runs only if F equals D, and then the numbers are wrong. weight_1 is F×D and weight_2 D×F, as nn.Linear stores them, so x is multiplied by weight_1 transposed.",
    AS_THEY_ARE,
)
task.changed(
    "weights_exchanged",
    "You have swapped the two matrices. weight_1 is for the first layer, transposed, and weight_2 for the second.",
    {
        "weight_1 transposed": lambda weight_1, *, weight_2: weight_2,
        "weight_2 transposed": lambda weight_2, *, weight_1: weight_1,
    },
)
task.changed(
    "as_it_was",
    "This is still the version to repair: it transposes neither matrix, and its ReLU comes after the second product instead of the first. weight_1 is F×D and weight_2 D×F, as nn.Linear stores them.",
    AS_THEY_ARE | NO_RELU | {"result": torch.relu},
)
