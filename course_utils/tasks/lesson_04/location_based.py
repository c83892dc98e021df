"""Task 04.location_based: weights over positions, from the state alone."""

from operator import matmul

import torch

from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "location_based",
    "weights over positions, from the state alone",
    ("state B×T×D", "weight S×D"),
    "weights B×T×S",
    (
        (
            "No hidden state is used: the state alone says which positions to look at. And the result is weights, already normalised, not "
            "scores."
        ),
        (
            "Take the state [1, 2] and a weight with the rows [0, 0] and [ln 3, 0], one for each of two positions, where ln 3 ≈ 1.0986. The "
            "scores are 0 and 1.0986, and their exponentials are 1 and 3. So the weights are 0.25 and 0.75."
        ),
        "scores = state times weight transposed, B×T×S; softmax over the last axis.",
    ),
    difficulty=2,
    importance=2,
    minutes=3,
)


@task.oracle
def _(state, weight):
    scores = torch.einsum("btd,sd->bts", state, weight)
    return (scores - scores.logsumexp(-1, keepdim=True)).exp()


@task.steps
def _(state, weight):
    scores = yield "the product of state and weight", matmul, state, weight.mT
    weights = yield "the weights", lambda scores: scores.softmax(-1), scores
    return weights


@task.mistake("These are scores: the softmax is missing. This one of the eight gives weights.")
def no_softmax(state, weight):
    return state @ weight.T


@task.mistake(
    "Your softmax runs over the states (queries). Each state spreads its own weight over the positions, the last axis."
)
def softmax_over_states(state, weight):
    return (state @ weight.T).softmax(1)


@task.mistake("Your softmax runs over the batch. Each state spreads its own weight over the positions, the last axis.")
def softmax_over_batch(state, weight):
    return (state @ weight.T).softmax(0)


@task.mistake("You divide by √D before the softmax. Luong's location score is not scaled.")
def location_scaled(state, weight):
    return (state @ weight.T / state.shape[-1] ** 0.5).softmax(-1)


@task.mistake("You apply tanh before the softmax. This score is softmax(W s), with nothing in between.")
def location_tanh(state, weight):
    return (state @ weight.T).tanh().softmax(-1)


@task.mistake(
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Subtract each row's "
    "maximum first, or use softmax."
)
def location_overflow(state, weight):
    e = (state @ weight.T).exp()
    return e / e.sum(-1, keepdim=True)


@task.mistake("These are logarithms of the weights (log-softmax). Weights are positive and sum to 1.")
def location_logarithms(state, weight):
    return (state @ weight.T).log_softmax(-1)


@task.mistake(
    "A sigmoid weighs each position by itself, so a row does not sum to 1. The positions share the weight: use a softmax over the last "
    "axis."
)
def location_sigmoid(state, weight):
    return (state @ weight.T).sigmoid()


@task.mistake(
    "weight is S×D. For rows of states it has to be transposed: `weight.T`. Without that this runs only where S = D, and gives a wrong "
    "result there."
)
def location_not_transposed(state, weight):
    return (state @ weight).softmax(-1)


shared_mistakes(task, after=("transposed",))
