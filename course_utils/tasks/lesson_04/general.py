"""Task 04.general: a matrix between state and hidden state."""

from operator import matmul

import torch

from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "general",
    "a matrix between state and hidden state",
    ("state B×T×D", "hidden B×S×E", "weight D×E"),
    "scores B×T×S",
    (
        "The matrix carries the state into the space of the hidden states; there the dot product is taken. D and E may differ.",
        "scores_(b,t,s) = Σ_d Σ_e state_(b,t,d) · weight_(d,e) · hidden_(b,s,e).",
        "state times weight is B×T×E; times hidden with its last two axes exchanged, B×E×S.",
    ),
    difficulty=2,
    importance=4,
    minutes=3,
)


@task.oracle
def _(state, hidden, weight):
    return torch.einsum("btd,de,bse->bts", state, weight, hidden)


@task.steps
def _(state, hidden, weight):
    product = yield "the product of state and weight", matmul, state, weight
    scores = yield "the product of state, weight and hidden", matmul, product, hidden.mT
    return scores


@task.mistake(
    "weight is transposed in yours. It is D×E and stands between state and hidden: sᵀ W h. This only runs where D = E, and is wrong there."
)
def weight_transposed(state, hidden, weight):
    return state @ weight.T @ hidden.mT


@task.mistake("weight has no effect: this is the plain dot product, and needs D = E.")
def weight_unused(state, hidden, weight):
    return state @ hidden.mT


@task.mistake("You divide by √D. Luong's general score is not scaled.")
def general_scaled(state, hidden, weight):
    return state @ weight @ hidden.mT / state.shape[-1] ** 0.5


@task.mistake("There is a tanh too much: the general score is sᵀ W h, linear in each of the two.")
def with_tanh(state, hidden, weight):
    return (state @ weight).tanh() @ hidden.mT


shared_mistakes(task, lambda state, hidden, weight: (state @ weight, hidden))
