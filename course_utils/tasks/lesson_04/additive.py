"""Task 04.additive: a small network on the pair, laid end to end."""

from operator import matmul

import torch

from course_utils.models import attention
from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "additive",
    "a small network on the pair, laid end to end",
    ("state B×T×D", "hidden B×S×E", "weight A×(D+E)", "v A"),
    "scores B×T×S",
    (
        (
            "One hidden layer looks at a state and a hidden state laid end to end, and v turns that layer into one number. Every state has to be "
            'paired with every hidden state. Luong et al. (2015) call this score "concat"; most papers use the name "additive" for the form of '
            "Bahdanau et al. (2014), the task `perceptron` here."
        ),
        (
            "Take the state [1], the hidden state [2], W = [[1, 1], [2, -1]] and v = [1, 3]. The pair is [1, 2]. W times the pair is [1 + 2, 2 - "
            "2] = [3, 0], and tanh of that is [0.9951, 0]. The score is 1·0.9951 + 3·0 = 0.9951."
        ),
        "Expand state to B×T×S×D and hidden to B×T×S×E; cat them on the last axis; multiply by W transposed; apply tanh; multiply by v.",
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


@task.mistake(
    "Without tanh the matrix and v are as good as one vector, and the score is linear. That is the concatenating score."
)
def no_tanh(state, hidden, weight, v):
    return _pairs(state, hidden) @ weight.T @ v


@task.mistake("You use ReLU. This score has tanh, which keeps each hidden unit between -1 and 1.")
def with_relu(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).relu() @ v


@task.mistake("You use the logistic sigmoid. This score has tanh.")
def with_sigmoid(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).sigmoid() @ v


@task.mistake(
    "The pair is the wrong way round. It is [s; h], with the state first: the first D columns of W belong to the state."
)
def pair_turned(state, hidden, weight, v):
    pairs = _pairs(hidden, state).transpose(1, 2)
    return (pairs @ weight.T).tanh() @ v


@task.mistake("v is missing: you add up the hidden units, each with weight 1.")
def v_unused(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).tanh().sum(-1)


@task.mistake("tanh stands outside, around the whole score. It belongs around W[s; h], before v.")
def tanh_outside(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T @ v).tanh()


@task.mistake(
    "You pair the states with the hidden states position by position, which runs only where T = S. Every state has to meet every hidden "
    "state, which makes T×S scores per sentence."
)
def position_by_position(state, hidden, weight, v):
    return torch.tanh(torch.cat([state, hidden], -1) @ weight.T) @ v


@task.mistake(
    "weight is A×(D+E). For rows of pairs it has to be transposed: `weight.T`. Without that this runs only where A = D+E, and gives a "
    "wrong result there."
)
def weight_not_transposed(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight).tanh() @ v


def _overflowing_tanh(z):
    return (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())


@task.mistake(
    "Your own tanh overflows: exp of a large number is infinity, and infinity divided by infinity is NaN. Use torch.tanh."
)
def tanh_overflow(state, hidden, weight, v):
    return _overflowing_tanh(_pairs(state, hidden) @ weight.T) @ v


shared_mistakes(task)
