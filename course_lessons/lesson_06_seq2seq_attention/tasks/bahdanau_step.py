"""Task 06.bahdanau_step: one look at the source, with a hidden layer that meets state and annotation."""

from operator import add, matmul

import torch

from course_lessons.lesson_06_seq2seq_attention.tasks import _looking
from course_lessons.lesson_06_seq2seq_attention.tasks._looking import CLEAN, SCORES
from course_lessons.shared.padding import summed, without_garbage
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "Bahdanau attention, before each word",
    arguments=("state B×H", "annotations B×S×E", "mask B×S", "weight_s A×H", "weight_h A×E", "v A"),
    result=("context B×E", "weights B×S"),
    difficulty=3,
    importance=5,
    minutes=20,
    partial=USUAL,
)
_looking.properties(task)


@task.property
def context_is_weighted_sum(case, value):
    """The context follows from the weights, whatever they are."""
    context, weights = value
    _, annotations, mask, *_ = case.args
    apart = _looking.least_apart(context, lambda a: summed(weights.double(), a.double()), annotations, mask)
    return "Your context is not the sum of the annotations with your own weights." if apart > 1e-4 else None


def _inputs(draw, B, S, H, E, A, mask):
    shapes = ((B, H), (B, S, E), (A, H), (A, E), (A,))
    state, annotations, *weights = (draw.numbers(*shape) for shape in shapes)
    weight_s, weight_h, v = weights
    return state, annotations, mask, weight_s / 2 + 0.125, weight_h / 2 - 0.125, v + 0.25


@task.cases
def _(draw):
    yield from _looking.look_cases(draw, _inputs, "A")
    # Every tanh is 1 or -1, so scores are exact: ±10,001 and ±9,999. In the second row the real ones lie far below padding's.
    far = torch.tensor([[[1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], [[-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0]]])
    far_mask = torch.tensor([[True, True, False], [True, True, False]])
    far_weights = (torch.ones(2, 1), 100 * torch.eye(2), torch.tensor([1e4, 1.0]))
    yield Case(
        "very large scores, near ±10,000", (torch.tensor([[2.0], [-1.0]]), far, far_mask, *far_weights), hazard=True
    )


@task.steps
def _(state, annotations, mask, weight_s, weight_h, v):
    annotations = yield CLEAN, without_garbage, annotations, mask
    of_state = yield "the product of state and weight_s", matmul, state, weight_s.mT
    of_words = yield "the product of annotations and weight_h", matmul, annotations, weight_h.mT
    layer = yield "the sum of the two products", add, of_state[:, None], of_words
    units = yield "the hidden layer", torch.tanh, layer
    scores = yield SCORES, matmul, units, v
    return (yield from _looking.looking(scores, annotations, mask))
