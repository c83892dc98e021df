"""Task 04.perceptron: a small network with a matrix for each side."""

from operator import add, matmul

import torch

from course_utils.tasks.lesson_04 import additive
from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "perceptron",
    "a small network with a matrix for each side",
    ("state B×T×D", "hidden B×S×E", "weight_s A×D", "weight_h A×E", "v A"),
    "scores B×T×S",
    (
        "Each side is carried into the hidden layer by a matrix of its own; the two are added for every pair, then tanh, then v.",
        "scores_(b,t,s) = vᵀ tanh(W state_(b,t) + U hidden_(b,s)), with weight_s = W and weight_h = U.",
        "(state times W transposed) as B×T×1×A plus (hidden times U transposed) as B×1×S×A; tanh; times v.",
    ),
    difficulty=3,
    importance=4,
    minutes=10,
)


@task.oracle
def _(state, hidden, weight_s, weight_h, v):
    weight = torch.cat([weight_s, weight_h], dim=1)
    layer = torch.einsum("btsp,ap->btsa", additive._pairs(state, hidden), weight)
    return (layer.tanh() * v).sum(-1)


@task.steps
def _(state, hidden, weight_s, weight_h, v):
    first = yield "the product of state and weight_s", matmul, state, weight_s.mT
    second = yield "the product of hidden and weight_h", matmul, hidden, weight_h.mT
    layer = yield "the sum of the two products", add, first[:, :, None], second[:, None]
    units = yield "the hidden layer", torch.tanh, layer
    scores = yield "the product of the hidden layer and v", matmul, units, v
    return scores


def _layer(state, hidden, weight_s, weight_h):
    return (state @ weight_s.T)[:, :, None] + (hidden @ weight_h.T)[:, None]


@task.mistake("Without tanh the score is linear, and state and hidden state no longer interact.")
def perceptron_no_tanh(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s, weight_h) @ v


@task.mistake("You use ReLU. Bahdanau's score has tanh, which keeps each hidden unit between -1 and 1.")
def perceptron_with_relu(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s, weight_h).relu() @ v


@task.mistake(
    "You take tanh of each side and then add. The sum comes first, then tanh: else the two sides never interact."
)
def tanh_before_sum(state, hidden, weight_s, weight_h, v):
    return ((state @ weight_s.T).tanh()[:, :, None] + (hidden @ weight_h.T).tanh()[:, None]) @ v


@task.mistake(
    "The two matrices are exchanged: weight_s belongs to the state, weight_h to the hidden states. This only runs where D = E, and is wrong there."
)
def matrices_exchanged(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_h, weight_s).tanh() @ v


@task.mistake("v is missing: the hidden units are added up with weight 1.")
def perceptron_v_unused(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s, weight_h).tanh().sum(-1)


@task.mistake(
    "You add position to position: state t meets hidden state t only, where that runs at all. Every state has to meet every hidden "
    "state: T×S scores a sentence."
)
def perceptron_by_position(state, hidden, weight_s, weight_h, v):
    return torch.tanh(state @ weight_s.T + hidden @ weight_h.T) @ v


@task.mistake(
    "Your own tanh overflows: exp of a large number is infinity, and infinity over infinity is NaN. Use torch.tanh."
)
def perceptron_tanh_overflow(state, hidden, weight_s, weight_h, v):
    return additive._overflowing_tanh(_layer(state, hidden, weight_s, weight_h)) @ v


@task.mistake(
    "weight_s is A×D and weight_h A×E: for rows of vectors they have to be transposed, `.T`. Without it this runs only where A, D and E "
    "are alike, and is wrong there."
)
def perceptron_not_transposed(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s.T, weight_h.T).tanh() @ v


@task.mistake(
    "weight_s is A×D: for rows of states it has to be transposed, `weight_s.T`. Without it this runs only where A = D, and is wrong there."
)
def state_weight_not_transposed(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s.T, weight_h).tanh() @ v


@task.mistake(
    "weight_h is A×E: for rows of hidden states it has to be transposed, `weight_h.T`. Without it this runs only where A = E, and is wrong there."
)
def hidden_weight_not_transposed(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s, weight_h.T).tanh() @ v


shared_mistakes(task)
