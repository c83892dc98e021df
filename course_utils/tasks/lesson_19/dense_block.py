"""Task 19.dense_block: two convolutions, one of which is the other's gate (Mishra et al. 2018, section 3, DenseBlock)."""

from operator import mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.lesson_19._places import by_places, convolved, drawn_weight
from course_utils.tasks.shares import USUAL

task = Task(
    "19.dense_block",
    "what was there, and what is new",
    arguments=("x B×T×D", "weight_f F×D×2", "bias_f F", "weight_g F×D×2", "bias_g F", "dilation"),
    result="block B×T×(D+F)",
    difficulty=2,
    importance=4,
    minutes=10,
    offers=("models.snail.causal_convolution",),
    hints=(
        "The block keeps what it was given and puts F new features beside it. Each new feature has a value between -1 and 1, from one convolution, and a gate between 0 and 1, from the other, which says how much of that value gets through.",
        "Take one place, 3, so that nothing stands before it. Let weight_f be 0 for the place before and 0.25 for the place itself, weight_g 0 and 0.5, bias_f 0.25 and bias_g -1.5. The first convolution gives 0.75 + 0.25 = 1, and tanh(1) = 0.7616. The second gives 1.5 - 1.5 = 0, and σ(0) = 0.5. The block returns 3 and 0.7616·0.5 = 0.3808.",
        "f = the convolution of x with weight_f and bias_f; g = that with weight_g and bias_g, both with the same dilation; new = tanh of f times sigmoid of g, B×T×F; return x and new side by side, along the last axis.",
    ),
    partial=USUAL,
)


@task.property
def what_was_there_stays(case, value):
    """It comes first."""
    x = case.args[0]
    off = (value[..., : x.shape[2]] - x).abs() > 1e-3 * (1 + x.abs())
    return (
        f"The first D features of the result should be x as it came in. For the input “{case.name}” they are not: put x first, and the F new features after it."
        if off.any()
        else None
    )


@task.property
def what_is_new_lies_between_minus_1_and_1(case, value):
    """A tanh times a gate."""
    D = case.args[0].shape[2]
    largest = value[..., D:].abs().max()
    return (
        f"A new feature is a tanh times a gate between 0 and 1, so it lies between -1 and 1. One of yours is {largest:.4g} in size."
        if largest > 1.001
        else None
    )


def _inputs(draw, B, T, D, F, dilation, dtype=torch.float32):
    x = draw.numbers(B, T, D, dtype=dtype) + 0.125
    return x, *drawn_weight(draw, F, D, dtype), *drawn_weight(draw, F, D, dtype), dilation


@task.cases
def _(draw):
    for size, dilation in zip(sizes(B=2, T=11, D=3, F=5), (1, 1, 2, 1, 2, 3), strict=True):
        B, T = size.B, size.T if size.full else size.T + 2
        name = f"{'1 sequence' if B == 1 else f'{B} sequences'} of {T} places, D = {size.D}, F = {size.F}, dilation {dilation}"
        yield Case(name, _inputs(draw, B, T, size.D, size.F, dilation), size.full)
    yield Case("a dilation of 4", _inputs(draw, 3, 7, 2, 3, 4), True)
    yield Case("as many new features as old ones", _inputs(draw, 2, 5, 3, 3, 2))
    yield Case("B, T, D and F all 3", _inputs(draw, 3, 3, 3, 3, 1))
    yield Case("a single place, one feature", _inputs(draw, 1, 1, 1, 1, 1), True, edge=True)
    yield Case("a dilation larger than the number of places", _inputs(draw, 2, 3, 2, 3, 8), True, edge=True)
    x, *others = _inputs(draw, 2, 5, 3, 2, 2)
    yield Case("numbers of ±10,000", (1e4 * x, *others), True, hazard=True)
    yield Case("200 places, dilation 64", _inputs(draw, 2, 200, 3, 2, 64), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 7, 3, 5, 2, torch.float64), True, edge=True)


@task.oracle
def _(x, weight_f, bias_f, weight_g, bias_g, dilation):
    f, g = by_places(x, weight_f, bias_f, dilation), by_places(x, weight_g, bias_g, dilation)
    new = (2 * (2 * f).sigmoid() - 1) * (1 + (g / 2).tanh()) / 2
    return torch.stack([*x.unbind(2), *new.unbind(2)], 2)


@task.steps
def _(x, weight_f, bias_f, weight_g, bias_g, dilation):
    f = yield (
        "the first convolution",
        lambda x, weight: convolved(x, weight, bias_f, dilation),
        x,
        weight_f,
    )
    g = yield (
        "the second convolution",
        lambda x, weight: convolved(x, weight, bias_g, dilation),
        x,
        weight_g,
    )
    values = yield "the tanh of the first one", torch.tanh, f
    gates = yield "the sigmoid of the second one", torch.sigmoid, g
    new = yield "the product of both", mul, values, gates
    block = yield "x and the new features side by side", lambda x, new: torch.cat([x, new], 2), x, new
    return block


def _as_given(*given):
    return given


def _side_by_side(x, new):
    return torch.cat([x, new], 2)


def _block(
    x, weight_f, bias_f, weight_g, bias_g, dilation,
    given=_as_given, values=torch.tanh, gates=torch.sigmoid, join=mul, end=_side_by_side,
):  # fmt: skip
    weight_f, bias_f, weight_g, bias_g = given(weight_f, bias_f, weight_g, bias_g)
    f, g = convolved(x, weight_f, bias_f, dilation), convolved(x, weight_g, bias_g, dilation)
    return end(x, join(values(f), gates(g)))


def _mistake(name, sentence, **parts):
    """Register a block that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda *given: _block(*given, **parts))


# Value and gate

_mistake(
    "sigmoid_written_out",
    "You write the sigmoid out, as 1 / (1 + exp(-g)). For a g far below 0 the exponential is infinite, and the gradient NaN. Call torch.sigmoid, which avoids this.",
    gates=lambda g: 1 / (1 + torch.exp(-g)),
)
_mistake(
    "value_and_gate_exchanged",
    "Value and gate are exchanged: you multiply the sigmoid of the convolution with weight_f by the tanh of the one with weight_g. The one with weight_f goes through the tanh, and the one with weight_g, the gate, through the sigmoid.",
    values=torch.sigmoid,
    gates=torch.tanh,
)
_mistake(
    "tanh_for_both",
    "Your gate goes through a tanh and can be below 0. A gate lies between 0 and 1: take the sigmoid of the second convolution.",
    gates=torch.tanh,
)
_mistake(
    "sigmoid_for_both",
    "Both convolutions go through a sigmoid, so no new feature can be below 0. Take the tanh of the first one.",
    values=torch.sigmoid,
)
_mistake(
    "tanh_missing",
    "The tanh is missing: the first convolution meets the gate as it is. Take its tanh first.",
    values=lambda f: f,
)
_mistake(
    "sigmoid_missing",
    "The sigmoid is missing: the tanh is multiplied by the second convolution as it is. Take its sigmoid, which makes it a gate between 0 and 1.",
    gates=lambda g: g,
)
_mistake(
    "no_activations",
    "Both activations are missing: you multiply the two convolutions as they are. Take the tanh of the first and the sigmoid of the second.",
    values=lambda f: f,
    gates=lambda g: g,
)
_mistake(
    "tanh_of_the_product",
    "You take the tanh of the product. Take the tanh of the first convolution, and then multiply by the gate.",
    values=lambda f: f,
    join=lambda values, gates: torch.tanh(values * gates),
)
_mistake(
    "relu_for_the_tanh",
    "You take a ReLU of the first convolution. This block takes its tanh.",
    values=torch.relu,
)
_mistake(
    "softmax_for_the_gate",
    "Your gates are a softmax, so the features of a place compete with each other. Each feature has a gate of its own: take the sigmoid.",
    gates=lambda g: g.softmax(-1),
)
_mistake(
    "gate_the_other_way_round",
    "Your gate is the wrong way round: you multiply by 1 minus the sigmoid. Multiply by the sigmoid itself.",
    gates=lambda g: 1 - g.sigmoid(),
)
_mistake(
    "added",
    "You add the tanh and the gate. Multiply them: the gate says how much of the value gets through.",
    join=torch.add,
)
_mistake(
    "gate_unused",
    "The gate has no effect. Multiply the tanh of the first convolution by the sigmoid of the second.",
    join=lambda values, gates: values,
)
_mistake(
    "value_unused",
    "Your new features are the gates. Multiply the tanh of the first convolution by them.",
    join=lambda values, gates: gates,
)


# Which weights

_mistake(
    "first_convolution_for_both",
    "Value and gate come from the same convolution, that of weight_f. The gate has weights of its own, weight_g and bias_g.",
    given=lambda weight_f, bias_f, weight_g, bias_g: (weight_f, bias_f, weight_f, bias_f),
)
_mistake(
    "second_convolution_for_both",
    "Value and gate come from the same convolution, that of weight_g. The value has weights of its own, weight_f and bias_f.",
    given=lambda weight_f, bias_f, weight_g, bias_g: (weight_g, bias_g, weight_g, bias_g),
)
_mistake(
    "biases_exchanged",
    "The two biases are exchanged: bias_f belongs to weight_f, and bias_g to weight_g.",
    given=lambda weight_f, bias_f, weight_g, bias_g: (weight_f, bias_g, weight_g, bias_f),
)
_mistake(
    "one_bias_for_both",
    "Both convolutions use bias_f. The gate has a bias of its own, bias_g.",
    given=lambda weight_f, bias_f, weight_g, bias_g: (weight_f, bias_f, weight_g, bias_f),
)
_mistake(
    "taps_exchanged",
    "In both convolutions the two weights are exchanged. weight[..., 1] meets the place itself, and weight[..., 0] the one before it.",
    given=lambda weight_f, bias_f, weight_g, bias_g: (weight_f.flip(-1), bias_f, weight_g.flip(-1), bias_g),
)


@task.mistake(
    "The dilation has no effect: each place sees the one right before it. Pass the dilation on to both convolutions."
)
def dilation_left_out(x, weight_f, bias_f, weight_g, bias_g, dilation):
    return _block(x, weight_f, bias_f, weight_g, bias_g, 1)


@task.mistake(
    "Both convolutions look back 2 to the power of `dilation` places. The argument is the dilation itself, and not the number of the layer: pass it on as it is."
)
def two_to_the_dilation(x, weight_f, bias_f, weight_g, bias_g, dilation):
    return _block(x, weight_f, bias_f, weight_g, bias_g, 2**dilation)


@task.mistake(
    "The gate's convolution does not use the dilation: it looks back a single place. Both convolutions look back `dilation` places."
)
def dilation_left_out_at_the_gate(x, weight_f, bias_f, weight_g, bias_g, dilation):
    f, g = convolved(x, weight_f, bias_f, dilation), convolved(x, weight_g, bias_g, 1)
    return torch.cat([x, f.tanh() * g.sigmoid()], 2)


@task.mistake(
    "The value's convolution does not use the dilation: it looks back a single place. Both convolutions look back `dilation` places."
)
def dilation_left_out_at_the_value(x, weight_f, bias_f, weight_g, bias_g, dilation):
    f, g = convolved(x, weight_f, bias_f, 1), convolved(x, weight_g, bias_g, dilation)
    return torch.cat([x, f.tanh() * g.sigmoid()], 2)


@task.mistake(
    "Places see later ones: the zeros come after the sequence, not before it. Put `dilation` zeros before x, or call `reference_convolution`, which does this for you."
)
def looks_ahead(x, weight_f, bias_f, weight_g, bias_g, dilation):
    f, g = (
        convolved(x.flip(1), weight, bias, dilation).flip(1)
        for weight, bias in ((weight_f, bias_f), (weight_g, bias_g))
    )
    return torch.cat([x, f.tanh() * g.sigmoid()], 2)


# What is returned

_mistake(
    "x_left_out",
    "You return only the F new features. Put x before them, along the last axis: B×T×(D+F). The next block sees both.",
    end=lambda x, new: new,
)
_mistake(
    "new_ones_first",
    "The new features come first in your result, and x after them. Put x first.",
    end=lambda x, new: torch.cat([new, x], 2),
)
_mistake(
    "added_to_x",
    "You add the new features to x, as a residual connection does, and this runs without an error only if there are as many of them. A dense block puts them beside x: join both along the last axis.",
    end=lambda x, new: x + new,
)
_mistake(
    "one_after_the_other",
    "You join x and the new features along the time axis, so there are twice as many places. Join them along the last axis: B×T×(D+F).",
    end=lambda x, new: torch.cat([x, new], 1),
)
_mistake(
    "more_sequences",
    "You join x and the new features along the batch, as torch.cat does by default, so there are twice as many sequences. Join them along the last axis: B×T×(D+F).",
    end=lambda x, new: torch.cat([x, new]),
)
_mistake(
    "interleaved",
    "Old and new features alternate in your result, as stack and flatten give it. Put all of x first, and then all new features: torch.cat joins them.",
    end=lambda x, new: torch.stack([x, new], 3).flatten(2),
)
_mistake(
    "value_and_gate_side_by_side",
    "You put value and gate side by side, B×T×(D+2F). Multiply them: only their product stands beside x.",
    join=lambda values, gates: torch.cat([values, gates], 2),
)


@task.mistake(
    "x goes through the activations as well: you join first and take the tanh of everything. Only the convolutions have activations; x stays as it is."
)
def tanh_of_x_too(x, weight_f, bias_f, weight_g, bias_g, dilation):
    new = _block(x, weight_f, bias_f, weight_g, bias_g, dilation, end=lambda x, new: new)
    return torch.cat([x.tanh(), new], 2)


# Gradients, and what came in


@task.mistake(
    "The numbers are right, but the x in the result passes no gradient on. Put x itself there, without `detach`: that is the short way on which gradients reach the first layers."
)
def old_features_cut_off(x, weight_f, bias_f, weight_g, bias_g, dilation):
    return _block(x, weight_f, bias_f, weight_g, bias_g, dilation, end=lambda x, new: _side_by_side(x.detach(), new))


@task.mistake(
    "The numbers are right, but no gradient flows through the new features, so the block would never learn. Leave out `detach` and `no_grad`."
)
def new_features_cut_off(x, weight_f, bias_f, weight_g, bias_g, dilation):
    return _block(x, weight_f, bias_f, weight_g, bias_g, dilation, end=lambda x, new: _side_by_side(x, new.detach()))


@task.mistake(
    "The numbers are right, but no gradient flows through the gate, so it would never learn what to let through. Leave out `detach`."
)
def gate_cut_off(x, weight_f, bias_f, weight_g, bias_g, dilation):
    return _block(x, weight_f, bias_f, weight_g, bias_g, dilation, join=lambda values, gates: values * gates.detach())


@task.mistake(
    "The block is right, but you write into the x that came in, and whoever uses it later finds other numbers there. Work on a copy; torch.cat makes one."
)
def written_into_x(x, weight_f, bias_f, weight_g, bias_g, dilation):
    right = _block(x, weight_f, bias_f, weight_g, bias_g, dilation)
    with torch.no_grad():
        x.tanh_()
    return right
