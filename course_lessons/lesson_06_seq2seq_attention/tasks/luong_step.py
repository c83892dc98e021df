"""Task 06.luong_step: one look at the source after a step, and what the decoder makes of it."""

from operator import matmul, mul

import torch

from course_lessons.lesson_06_seq2seq_attention.tasks import _looking
from course_lessons.lesson_06_seq2seq_attention.tasks._looking import CLEAN, SCORES
from course_lessons.shared.padding import summed, without_garbage
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "Luong attention, after each step",
    arguments=("state B×H", "annotations B×S×E", "mask B×S", "weight H×E", "weight_c D×(E+H)"),
    result=("features B×D", "weights B×S"),
    difficulty=3,
    importance=4,
    minutes=15,
    partial=USUAL,
)
_looking.properties(task)


@task.property
def features_follow_from_the_weights(case, value):
    """The features follow from the weights, whatever they are."""
    features, weights = value
    state, annotations, mask, weight, weight_c = (t.double() if t.dtype != torch.bool else t for t in case.args)
    of = lambda a: torch.tanh(torch.cat([summed(weights.double(), a), state], -1) @ weight_c.T)  # noqa: E731
    apart = _looking.least_apart(features, of, annotations, mask)
    return (
        "Your features are not tanh(W_c [c; s]) with the context that your own weights give." if apart > 1e-4 else None
    )


def _inputs(draw, B, S, H, E, D, mask):
    shapes = ((B, H), (B, S, E), (H, E), (D, E + H))
    state, annotations, weight, weight_c = (draw.numbers(*shape) for shape in shapes)
    return state, annotations, mask, weight / 2 + 0.125, weight_c / 4 + 0.0625


@task.cases
def _(draw):
    yield from _looking.look_cases(draw, _inputs, "D", [("E is 2 and H is 4, D is 6", (2, 3, 4, 2, 6))])
    # Real scores far below those of padding in the second row; W_c keeps tanh from 1.
    far = torch.tensor([[[100.0], [-100.0], [70.0]], [[-100.0], [-90.0], [100.0]]])
    far_mask = torch.tensor([[True, True, False], [True, True, False]])
    far_weights = (torch.ones(1, 1), torch.tensor([[0.01, 0.002], [-0.02, 0.005]]))
    yield Case(
        "very large scores, near ±10,000", (torch.tensor([[100.0], [100.0]]), far, far_mask, *far_weights), hazard=True
    )


@task.steps
def _(state, annotations, mask, weight, weight_c):
    annotations = yield CLEAN, without_garbage, annotations, mask
    query = yield "the product of state and weight", matmul, state, weight
    products = yield "the products with the annotations", mul, query[:, None], annotations
    scores = yield SCORES, lambda products: products.sum(-1), products
    context, weights = yield from _looking.looking(scores, annotations, mask)
    both = yield "context and state side by side", lambda c, s: torch.cat([c, s], -1), context, state
    sums = yield "the product of both and weight_c", matmul, both, weight_c.mT
    features = yield "the features", torch.tanh, sums
    return features, weights
