"""Task 15.gated_context: a decoder's state decides how much of the context it reads."""

from operator import add, matmul, mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import USUAL

task = Task(
    "15.gated_context",
    "how much of the picture a word needs",
    arguments=("context B×E", "state B×H", "weight H", "bias"),
    result="gated B×E",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "Some words need the picture, and some follow from the words before them. So the state gives one number between 0 and 1 for each caption, and the whole context is multiplied by it.",
        "Take the state [1, 2], the weight [ln 3, 0] and the bias 0. The score is 1·1.0986 + 2·0 + 0 = 1.0986, and σ(1.0986) = 1 / (1 + 1/3) = 0.75. The context [4, -8] becomes [3, -6]: both of its numbers are multiplied by the same gate. With a bias of -1.0986 the score is 0, the gate 0.5, and the result [2, -4].",
        "score = state times weight, plus bias, B; gate = sigmoid of score, B; give gate a second axis of size 1, so that each row of context meets its own gate; return gate times context.",
    ),
    partial=USUAL,
)


@task.property
def a_gate_takes_away(case, value):
    """σ lies between 0 and 1."""
    context = case.args[0]
    outside = (value.abs() > context.abs() + 1e-3) | (value * context < -1e-3)
    if not outside.any():
        return None
    row, place = divmod(int(outside.int().argmax()), context.shape[1])
    return f"σ lies between 0 and 1, so no number of the context becomes larger or changes its sign; number {place} of row {row} is {context[row, place]:.4g} in the context, and {value[row, place]:.4g} in your result."


def _inputs(draw, B, E, H, dtype=torch.float32):
    weight, bias = draw.numbers(H, dtype=dtype) / 2 + 0.125, draw.numbers(1, dtype=dtype)[0] / 2 + 0.375
    return draw.numbers(B, E, dtype=dtype) + 0.25, draw.numbers(B, H, dtype=dtype) + 0.125, weight, bias


@task.cases
def _(draw):
    for size in sizes(B=3, E=5, H=7):
        name = f"{count(size.B, 'caption')}, widths E={size.E}, H={size.H}"
        yield Case(name, _inputs(draw, size.B, size.E, size.H), size.full)
    yield Case("11 captions, widths E=3, H=2", _inputs(draw, 11, 3, 2), True)
    yield Case("E and H both 5", _inputs(draw, 3, 5, 5))
    yield Case("as many captions as E", _inputs(draw, 3, 3, 5))
    yield Case("as many captions as H", _inputs(draw, 3, 5, 3))
    yield Case("a single caption, widths of 1", _inputs(draw, 1, 1, 1), True, edge=True)
    context, state, _, bias = _inputs(draw, 3, 5, 7)
    yield Case("a weight of zeros", (context, state, torch.zeros(7), bias), True, edge=True)
    far = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])[draw.distinct(3, 0, 3)]
    large = (context, far, torch.tensor([5e3, 5e3]), torch.tensor(0.0))
    yield Case("scores of ±10,000", large, True, hazard=True)
    yield Case("a context of ±10,000", (far * 1e4, state, *_inputs(draw, 1, 1, 7)[2:]), True, hazard=True)
    yield Case("200 captions", _inputs(draw, 200, 3, 5), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, torch.float64), True, edge=True)


@task.oracle
def _(context, state, weight, bias):
    rows = []
    for c, s in zip(context, state, strict=True):
        score = sum(w * number for w, number in zip(weight, s, strict=True)) + bias
        rows.append(c * (torch.tanh(score / 2) + 1) / 2)
    return torch.stack(rows)


@task.steps
def _(context, state, weight, bias):
    product = yield "the product of state and weight", matmul, state, weight
    score = yield "the product plus bias", add, product, bias
    gate = yield "the gate", torch.sigmoid, score
    gated = yield "the gated context", mul, gate[:, None], context
    return gated


def _score(state, weight, bias):
    return state @ weight + bias


def _gated(context, state, weight, bias, gate=torch.sigmoid, mix=lambda gate, context: gate[:, None] * context):
    return mix(gate(_score(state, weight, bias)), context)


def _mistake(name, sentence, **parts):
    """Register a gated context that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda context, state, weight, bias: _gated(context, state, weight, bias, **parts))


# From a score to a gate

_mistake(
    "no_sigmoid",
    "The sigmoid is missing, so the context may become larger, or change its sign. The sigmoid turns the score into a number between 0 and 1.",
    gate=lambda score: score,
)
_mistake(
    "with_tanh",
    "You use tanh where the sigmoid belongs, so a gate may be negative and turn the context round. The sigmoid lies between 0 and 1.",
    gate=torch.tanh,
)
_mistake(
    "with_relu",
    "You use ReLU where the sigmoid belongs, so a gate may be far above 1. The sigmoid lies between 0 and 1.",
    gate=torch.relu,
)
_mistake(
    "with_exp",
    "You use the exponential where the sigmoid belongs, so a gate may be far above 1. The sigmoid lies between 0 and 1.",
    gate=torch.exp,
)
_mistake(
    "softmax_over_the_batch",
    "You use a softmax over the batch where the sigmoid belongs, so the gates of all captions add up to 1, and a single caption always has the gate 1. Each caption has a gate of its own: apply the sigmoid to each score.",
    gate=lambda score: score.softmax(0),
)
_mistake(
    "softmax_of_one_number",
    "Every gate is 1, and the context comes back as it was. That happens where a softmax over a single number takes the place of the sigmoid. Return the context times the sigmoid of the score.",
    gate=lambda score: score[:, None].softmax(1)[:, 0],
)
_mistake(
    "sigmoid_twice",
    "The sigmoid is applied twice. Apply it once, to the score.",
    gate=lambda score: score.sigmoid().sigmoid(),
)
_mistake(
    "one_minus",
    "Your gate is the wrong way round: where it should let everything through it lets nothing through. Multiply by σ of the score, not by 1 minus it.",
    gate=lambda score: 1 - score.sigmoid(),
)
_mistake(
    "rounded",
    "Your gate is either 0 or 1. Then no gradient reaches the weight, so when to look could not be learned: use the sigmoid as it is.",
    gate=lambda score: score.sigmoid().round(),
)
_mistake(
    "sum_of_the_batch",
    "All captions get the same gate, from the sum of all their scores. Each caption has a gate of its own: take the sum over the H numbers of a state alone.",
    gate=lambda score: score.sum().sigmoid().expand(len(score)),
)
_mistake(
    "mean_gate",
    "All captions get the same gate, the mean of their gates. Each caption has a gate of its own.",
    gate=lambda score: score.sigmoid().mean().expand(len(score)),
)
_mistake(
    "first_gate_for_all",
    "All captions get the gate of the first one. Each has its own.",
    gate=lambda score: score.sigmoid()[:1].expand(len(score)),
)
_mistake(
    "overflow",
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.sigmoid takes scores of any size.",
    gate=lambda score: score.exp() / (1 + score.exp()),
)
_mistake(
    "gradient_overflows",
    "The values are right, but for a score far below 0 the gradient is NaN: in 1 / (1 + exp(-score)) the exponential becomes infinite, and on the way back infinity is multiplied by 0. torch.sigmoid takes scores of any size.",
    gate=lambda score: 1 / (1 + (-score).exp()),
)


# From gate and context to the result

_mistake(
    "gate_alone",
    "You return the gates, one number for each caption. Multiply the context by them.",
    mix=lambda gate, context: gate,
)
_mistake(
    "gate_with_its_axis",
    "You return the gates, B×1. Multiply the context by them.",
    mix=lambda gate, context: gate[:, None],
)
_mistake(
    "gate_along_the_features",
    "Your gates meet the columns of the context: gate 1 multiplies feature 1 of every caption. This runs without an error only where there are as many captions as features. Give the gates a second axis of size 1, so that each meets its own row.",
    mix=lambda gate, context: gate * context,
)
_mistake(
    "gate_added",
    "You add the gate to the context. Multiply the two.",
    mix=lambda gate, context: gate[:, None] + context,
)
_mistake(
    "divided_by_the_gate",
    "You divide the context by the gate, so a closed gate makes it larger. Multiply the two.",
    mix=lambda gate, context: context / gate[:, None],
)
_mistake(
    "gate_squared",
    "The gate is multiplied twice. Multiply the context by it once.",
    mix=lambda gate, context: gate[:, None] ** 2 * context,
)
_mistake(
    "context_kept_beside",
    "You add the gated context to the context itself, so a closed gate lets all of it through. Return the gated context alone.",
    mix=lambda gate, context: context + gate[:, None] * context,
)
_mistake(
    "axis_too_many",
    "Your result has an axis of size 1 too many: B×1×E. A context for each caption is asked for, B×E.",
    mix=lambda gate, context: gate[:, None, None] * context[:, None],
)
_mistake(
    "every_gate_with_every_context",
    "Your result is B×B×E: every gate meets every context. Each context is multiplied by the gate of its own row.",
    mix=lambda gate, context: gate[:, None, None] * context,
)
_mistake(
    "summed_up",
    "You add up the features of each gated context, which leaves one number for each caption. Multiply every feature by the gate, and add nothing up.",
    mix=lambda gate, context: (gate[:, None] * context).sum(-1),
)


@task.mistake("The bias has no effect. Add it to the product of state and weight, before the sigmoid.")
def bias_unused(context, state, weight, bias):
    return _gated(context, state, weight, 0 * bias)


@task.mistake("You add the bias after the sigmoid, so a gate may lie outside 0 and 1. Add it before.")
def bias_outside(context, state, weight, bias):
    return _gated(context, state, weight, 0 * bias, gate=lambda score: score.sigmoid() + bias)


@task.mistake("You add the bias to the gated context. It belongs to the score, before the sigmoid.")
def bias_at_the_end(context, state, weight, bias):
    return _gated(context, state, weight, 0 * bias) + bias


@task.mistake("The weight has no effect: you add up the numbers of a state, each with weight 1.")
def weight_unused(context, state, weight, bias):
    return _gated(context, state, torch.ones_like(weight), bias)


@task.mistake("The state has no effect: every caption gets the gate σ(bias).")
def state_unused(context, state, weight, bias):
    return _gated(context, 0 * state, weight, bias)


@task.mistake(
    "Your gate looks at the context where it should look at the state. This runs without an error only where both have the same width."
)
def gate_from_the_context(context, state, weight, bias):
    return _gated(context, context, weight, bias)


@task.mistake("You multiply the state by the gate, and the context has no effect. Multiply the context.")
def state_gated(context, state, weight, bias):
    return _gated(state, state, weight, bias)


@task.mistake(
    "Each feature gets a gate of its own: the products of state and weight are not added up. This runs without an error only where E = H. Some code has a gate for each feature, with a weight E×H; here the scalar product of weight and state gives one gate for each caption."
)
def not_summed(context, state, weight, bias):
    return torch.sigmoid(state * weight + bias) * context


@task.mistake("You take the mean over the H numbers of a state. `wᵀs` is their sum, weighted by w.")
def mean_for_sum(context, state, weight, bias):
    return _gated(context, state / len(weight), weight, bias)


@task.mistake("You divide the product by √H. That belongs to the scaled dot product: leave this score as it is.")
def scaled(context, state, weight, bias):
    return _gated(context, state / len(weight) ** 0.5, weight, bias)


@task.mistake(
    "The context stands inside the sigmoid: you multiply it by the score first. Take the sigmoid of the score, and multiply by the context afterwards."
)
def context_inside(context, state, weight, bias):
    return torch.sigmoid(_score(state, weight, bias)[:, None] * context)


@task.mistake("tanh is applied to the state before the product. The state is used as it is.")
def tanh_of_the_state(context, state, weight, bias):
    return _gated(context, state.tanh(), weight, bias)
