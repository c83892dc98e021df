"""Task 04.perceptron: a small network with a matrix for each side."""

from operator import add, matmul

import torch

from course_lessons.lesson_04_alignment_scores.tasks._scores import score_task

task = score_task(
    __name__,
    "a small network with one matrix for each side",
    ("state B×T×D", "hidden B×S×E", "weight_s A×D", "weight_h A×E", "v A"),
    "scores B×T×S",
    difficulty=3,
    importance=4,
    minutes=10,
)


@task.steps
def _(state, hidden, weight_s, weight_h, v):
    first = yield "the product of state and weight_s", matmul, state, weight_s.mT
    second = yield "the product of hidden and weight_h", matmul, hidden, weight_h.mT
    layer = yield "the sum of the two products", add, first[:, :, None], second[:, None]
    units = yield "the hidden layer", torch.tanh, layer
    scores = yield "the scores", matmul, units, v
    return scores
