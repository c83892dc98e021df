"""Task 04.additive: a small network on the pair, its input laid end to end."""

from operator import matmul

import torch

from course_utils.models import attention
from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "additive",
    "a small network on the pair, its input laid end to end",
    ("state B×T×D", "hidden B×S×E", "weight A×(D+E)", "v A"),
    "scores B×T×S",
    (
        "One hidden layer looks at a state and a hidden state together; v turns the layer into one number. Every state has to be paired with every hidden state.",
        "scores_(b,t,s) = vᵀ tanh(W [state_(b,t); hidden_(b,s)]): the state comes first in the pair; W is A×(D+E).",
        "Expand state to B×T×S×D and hidden to B×T×S×E; cat them on the last axis; times W transposed; tanh; times v.",
    ),
    difficulty=3,
    importance=3,
    minutes=10,
)


@task.oracle
def _(state, hidden, weight, v):
    D = state.shape[-1]
    first, second = (
        torch.einsum("btd,ad->bta", state, weight[:, :D]),
        torch.einsum("bse,ae->bsa", hidden, weight[:, D:]),
    )
    return torch.einsum("btsa,a->bts", (first[:, :, None] + second[:, None]).tanh(), v)


@task.steps
def _(state, hidden, weight, v):
    pairs = yield "the pairs", attention.pairs, state, hidden
    layer = yield "the product of the pairs and weight", matmul, pairs, weight.mT
    units = yield "the hidden layer", torch.tanh, layer
    scores = yield "the product of the hidden layer and v", matmul, units, v
    return scores


def _pairs(state, hidden):
    return attention.pairs(state, hidden)


@task.mistake("Without tanh the two matrices are one, and the score is linear: that is the concatenating score.")
def no_tanh(state, hidden, weight, v):
    return _pairs(state, hidden) @ weight.T @ v


@task.mistake("You use ReLU. Bahdanau's score has tanh, which keeps each hidden unit between -1 and 1.")
def with_relu(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).relu() @ v


@task.mistake("You use the logistic sigmoid. Here the non-linearity is tanh.")
def with_sigmoid(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).sigmoid() @ v


@task.mistake("The pair is the wrong way round: [s; h], the state first. The first D columns of W belong to the state.")
def pair_turned(state, hidden, weight, v):
    pairs = _pairs(hidden, state).transpose(1, 2)
    return (pairs @ weight.T).tanh() @ v


@task.mistake("v is missing: the hidden units are added up with weight 1.")
def v_unused(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).tanh().sum(-1)


@task.mistake("tanh stands outside, around the score. It belongs around W[s; h], before v.")
def tanh_outside(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T @ v).tanh()


@task.mistake(
    "You pair position with position, which runs only where T = S: state t meets hidden state t only. Every state has to meet every "
    "hidden state: T×S scores a sentence."
)
def position_by_position(state, hidden, weight, v):
    return torch.tanh(torch.cat([state, hidden], -1) @ weight.T) @ v


@task.mistake(
    "weight is A×(D+E): for rows of pairs it has to be transposed, `weight.T`. Without it this runs only where A = D+E, and is wrong there."
)
def weight_not_transposed(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight).tanh() @ v


def _overflowing_tanh(z):
    return (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())


@task.mistake(
    "Your own tanh overflows: exp of a large number is infinity, and infinity over infinity is NaN. Use torch.tanh."
)
def tanh_overflow(state, hidden, weight, v):
    return _overflowing_tanh(_pairs(state, hidden) @ weight.T) @ v


shared_mistakes(task)
