"""Task 22.swiglu: a gated feed-forward network (Shazeer 2020, equation 6), with weights as nn.Linear keeps them."""

from operator import add, matmul, mul

import torch
import torch.nn.functional as F

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "22.swiglu",
    "a gated feed-forward network",
    arguments=("x …×D", "weight_gate F×D", "weight_up F×D", "weight_down D×F"),
    result="y …×D",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "Two layers are applied to x in parallel. The output of one goes through SiLU and becomes the gate: entry by entry, it says how much of the other layer's output is passed on. A third layer projects the product back to the width D. None of the three has a bias.",
        (
            "Take one vector [1, 2], a weight_gate with the rows [1, 0] and [0, -1], a weight_up with the rows [1, 1] and [2, 0], and a weight_down with the rows [1, 0] and [0, 10]. The first layer outputs 1 and -2, which SiLU turns into 1·0.7311 = 0.7311 and -2·0.1192 = -0.2384. The other layer outputs 3 and 2. "
            "The products are 2.1932 and -0.4768, which the last layer turns into 2.1932 and -4.7681."
        ),
        "gate = x times weight_gate transposed; gate = gate times its sigmoid; up = x times weight_up transposed; return gate times up, entry by entry, times weight_down transposed.",
    ),
    partial=USUAL,
)


def _inputs(draw, *shape, F, dtype=torch.float32):
    D = shape[-1]
    x, gate, up, down = (draw.numbers(*each, dtype=dtype) for each in (shape, (F, D), (F, D), (D, F)))
    return x + 0.25 * (x == 0), *(weight + 0.25 * (weight == 0) for weight in (gate, up)), down + 0.25 * (down == 0)


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, D=5, F=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'position')}, width {size.D}, {size.F} gates"
        yield Case(name, _inputs(draw, size.B, size.T, size.D, F=size.F), size.full)
    yield Case("as many gates as the width", _inputs(draw, 2, 3, 4, F=4))
    yield Case("fewer gates than the width", _inputs(draw, 2, 3, 5, F=2))
    yield Case("a single vector, without an axis of positions", _inputs(draw, 5, F=7), True, edge=True)
    yield Case("heads of positions, of shape (2, 3, 2, 5)", _inputs(draw, 2, 3, 2, 5, F=3), edge=True)
    yield Case("a single gate", _inputs(draw, 2, 3, 5, F=1), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 3, 5, F=7, dtype=torch.float64), True, hazard=True)
    x, *rest = _inputs(draw, 2, 3, 5, F=7)
    yield Case("numbers near 1,000", (1000 * x, *rest), hazard=True)


GATE, GATED = "the gate", "the gated product"


@task.steps
def _(x, weight_gate, weight_up, weight_down):
    turned = yield "weight_gate transposed", lambda weight: weight.mT, weight_gate
    before = yield "the product with weight_gate", matmul, x, turned
    share = yield "the sigmoid", torch.sigmoid, before
    gate = yield GATE, mul, before, share
    turned = yield "weight_up transposed", lambda weight: weight.mT, weight_up
    up = yield "the product with weight_up", matmul, x, turned
    gated = yield GATED, mul, gate, up
    turned = yield "weight_down transposed", lambda weight: weight.mT, weight_down
    y = yield "the product with weight_down", matmul, gated, turned
    return y


task.changed(
    "sigmoid",
    "The gate is a sigmoid: that is GLU. SiLU is a number times its sigmoid, z·σ(z), which is F.silu.",
    {GATE: lambda z, share: share},
)
task.changed(
    "exchanged",
    "weight_gate and weight_up are swapped: SiLU is applied to the product with weight_gate, and the product with weight_up stays as it is.",
    {"weight_gate": lambda weight, *, weight_up: weight_up, "weight_up": lambda weight, *, weight_gate: weight_gate},
)
task.changed(
    "relu",
    "The gate goes through a ReLU: that is ReGLU. The task asks for SiLU, z·σ(z).",
    {GATE: lambda z, share: z.relu()},
)
task.changed(
    "gelu",
    "The gate goes through a GELU: that is GEGLU. The task asks for SiLU, z·σ(z).",
    {GATE: lambda z, share: F.gelu(z)},
)
for name, noun, function in (
    ("tanh", "tanh", torch.tanh),
    ("gelu_by_tanh", "a GELU, in its tanh approximation,", lambda z: F.gelu(z, approximate="tanh")),
    ("gelu_by_a_sigmoid", "z·σ(1.702·z), which approximates a GELU,", lambda z: z * (1.702 * z).sigmoid()),
    ("squared_relu", "a squared ReLU", lambda z: z.relu() ** 2),
    ("softplus", "a softplus", F.softplus),
    ("mish", "Mish", F.mish),
    ("softmax", "a softmax", lambda z: z.softmax(-1)),
    ("sigmoid_of_minus_z", "z·σ(-z), or z / (1 + exp(z)),", lambda z: z * (-z).sigmoid()),
):
    sentence = f"The gate goes through {noun}. The task asks for SiLU, z·σ(z) = z / (1 + exp(-z)).".replace(",.", ".")
    task.changed(name, sentence, {GATE: lambda z, share, function=function: function(z)})
task.changed_each(
    ("added", "You add the gate and the output of weight_up. Multiply them, entry by entry.", {GATED: add}),
    ("sigmoid_of_up", "You take the sigmoid of the output of weight_up. The gate is z·σ(z), with both z from weight_gate.", {GATE: left_out, GATED: lambda gate, up: gate * up.sigmoid()}),
    ("gate_unused", "weight_gate has no effect: you only apply SiLU to the output of weight_up. The gate is computed with weight_gate and multiplied by the output of weight_up.", {GATED: lambda gate, up: F.silu(up)}),
    ("down_before_the_product", "You project both products to the width D before you multiply them. Multiply them first, F entries by F entries, then project the product.", {GATED: lambda gate, up, *, weight_down: (gate @ weight_down.mT) * (up @ weight_down.mT), "the product with weight_down": left_out}),
    ("activation_at_the_end", "SiLU is also applied to the result. Nothing comes after weight_down.", {"the product with weight_down": lambda gated, turned: F.silu(gated @ turned)}),
    ("no_down", "The product with weight_down is missing: it projects the F entries back to the width D.", {"the product with weight_down": left_out}),
    ("residual", "You add x to the result. The residual connection is not part of this network.", {"result": lambda y, *, x: x + y}),
)  # fmt: skip
task.changed(
    "no_silu",
    "Nothing is applied to the gate: the two products are multiplied as they are. The gate goes through SiLU first.",
    {GATE: left_out},
)
task.changed(
    "silu_of_both",
    "SiLU is applied to both products. It should be applied only to the product with weight_gate.",
    {GATED: lambda gate, up: gate * F.silu(up)},
)
task.changed(
    "silu_afterwards",
    "SiLU is applied to the product of gate and up. It should be applied to the gate, before the product.",
    {GATE: left_out, GATED: lambda gate, up: F.silu(gate * up)},
)
task.changed(
    "no_up",
    "weight_up has no effect: that is an ordinary feed-forward network, with SiLU instead of ReLU. Multiply the gate by the product with weight_up.",
    {GATED: left_out},
)
task.changed(
    "not_transposed",
    "The weights are not transposed: this runs only if there are as many gates as the width, and then it gives different numbers. All three are outputs × inputs, as in nn.Linear, so x is multiplied by a weight transposed.",
    {f"{weight} transposed": left_out for weight in ("weight_gate", "weight_up", "weight_down")},
)
