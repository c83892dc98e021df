"""Task 04.dot: the dot-product score."""

from operator import matmul

import torch

from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "dot",
    "the dot-product score",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    (
        "Every state meets every hidden state, and their features are multiplied and added up.",
        "scores_(b,t,s) = Σ_d state_(b,t,d) · hidden_(b,s,d).",
        "Swap the last two axes of hidden (B×D×S) and take the matrix product with state (B×T×D).",
    ),
    difficulty=1,
    importance=5,
    minutes=5,
)


@task.oracle
def _(state, hidden):
    return (state[:, :, None] * hidden[:, None]).sum(-1)


@task.steps
def _(state, hidden):
    scores = yield "the product of state and hidden", matmul, state, hidden.mT
    return scores


@task.mistake("You divide by √D. That is the scaled dot product, the next task.")
def scaled(state, hidden):
    return state @ hidden.mT / state.shape[-1] ** 0.5


@task.mistake("You divide by the lengths. That is the cosine, the content-based score.")
def cosine(state, hidden):
    return torch.nn.functional.cosine_similarity(state[:, :, None], hidden[:, None], dim=-1)


@task.mistake(
    "A reshape changes the shape, but leaves the numbers in their order: it does not exchange axes. That is `hidden.mT` or `hidden.transpose(1, 2)`."
)
def reshaped(state, hidden):
    return state @ hidden.reshape(hidden.shape[0], hidden.shape[2], hidden.shape[1])


shared_mistakes(task, lambda state, hidden: (state, hidden))
