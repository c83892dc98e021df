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
        "The matrix carries the state over into the space of the hidden states, and the dot product is taken there. So D and E may differ.",
        (
            "Take the state [1, 2], W = [[1, 0, 2], [0, 1, 1]] and the hidden state [1, 1, 3]: here D = 2 and E = 3. The state times W is 1·[1, "
            "0, 2] + 2·[0, 1, 1] = [1, 2, 4]. The dot product of that with the hidden state is 1 + 2 + 12 = 15."
        ),
        "state times weight is B×T×E; multiply that by hidden with its last two axes exchanged, B×E×S.",
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
    "Your weight is transposed. It is D×E and stands between state and hidden: sᵀ W h. Transposed, it runs only where D = E, and gives a "
    "wrong result there."
)
def weight_transposed(state, hidden, weight):
    return state @ weight.T @ hidden.mT


@task.mistake("weight has no effect. Without it this is the plain dot product, which needs D = E.")
def weight_unused(state, hidden, weight):
    return state @ hidden.mT


@task.mistake("You divide by √D. Luong's general score is not scaled.")
def general_scaled(state, hidden, weight):
    return state @ weight @ hidden.mT / state.shape[-1] ** 0.5


@task.mistake("There is a tanh too many. The general score is sᵀ W h, which is linear in s and in h.")
def with_tanh(state, hidden, weight):
    return (state @ weight).tanh() @ hidden.mT


shared_mistakes(task, lambda state, hidden, weight: (state @ weight, hidden))
