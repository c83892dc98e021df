"""Task 06.luong_step: one look at the source after a step, and what the decoder makes of it."""

from operator import matmul, mul

import torch

from course_lessons.lesson_06_seq2seq_attention.tasks import _looking
from course_lessons.lesson_06_seq2seq_attention.tasks._looking import CLEAN, MASKED, SCORES, WEIGHTS
from course_lessons.shared.mask_mistakes import filled
from course_lessons.shared.padding_mistakes import summed, without_garbage
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "06.luong_step",
    "Luong attention, after each step",
    arguments=("state B×H", "annotations B×S×E", "mask B×S", "weight H×E", "weight_c D×(E+H)"),
    result=("features B×D", "weights B×S"),
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "This attention step is like Bahdanau's with a different score: there is one matrix between state and annotation, and no hidden layer. What is new comes afterwards: context and state are concatenated, and one layer turns the result into features.",
        (
            "Take the state [1], two annotations [0] and [ln 3] ≈ [1.0986], and W = [[1]]. The scores are 1·1·0 = 0 and 1·1·1.0986 = 1.0986. Their exponentials are 1 and 3, so the weights are 0.25 and 0.75, and the context is 0.75·1.0986 = 0.8240. "
            "With W_c = [[1, -1]] the features are tanh(1·0.8240 - 1·1) = -0.1742: the context's part of W_c comes first."
        ),
        "annotations = zeros where the mask is False; scores = (state times weight) as B×1×E, times annotations, summed over E, B×S; put -inf where the mask is False; weights = softmax over S, zeros instead of NaN in empty "
        "rows; context = weights as B×S×1 times annotations, summed over S; return tanh of (context and state side by side, times weight_c transposed), and the weights.",
    ),
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


QUERY, PRODUCTS = "the product of state and weight", "the products with the annotations"
BOTH, FEATURES = "context and state side by side", "the features"


@task.steps
def _(state, annotations, mask, weight, weight_c):
    annotations = yield CLEAN, without_garbage, annotations, mask
    query = yield QUERY, matmul, state, weight
    products = yield PRODUCTS, mul, query[:, None], annotations
    scores = yield SCORES, lambda products: products.sum(-1), products
    context, weights = yield from _looking.looking(scores, annotations, mask)
    both = yield BOTH, lambda c, s: torch.cat([c, s], -1), context, state
    sums = yield "the product of both and weight_c", matmul, both, weight_c.mT
    features = yield FEATURES, torch.tanh, sums
    return features, weights


_looking.look_mistakes(task)
task.changed(
    "masked_with_zeros",
    "Masked scores become 0 or nearly 0 (-1e-9 is a tiny number, not a very negative one). exp(0) = 1 is a weight like any other. Use -inf.",
    {CLEAN: left_out, MASKED: filled(0.0), WEIGHTS: left_out},
)
task.changed(
    "state_first",
    "State and context are concatenated in the wrong order. The first E columns of W_c belong to the context and the last H to the state: [c; s].",
    {BOTH: lambda context, state: torch.cat([state, context], -1)},
)
task.changed(
    "context_unused",
    "The context has no effect on the features: they come from the state alone, so the decoder ignores what it has seen. Concatenate the context and the state.",
    {BOTH: lambda context, state, *, right: right(0 * context, state)},
)
task.changed(
    "state_lined_up_with_words",
    "The state's part has no axis for the words, so it is multiplied position by position. With several sentences, that runs only if B = S, and then pairs position i with the state of sentence i. Give it an axis in the middle, B×1×E.",
    {PRODUCTS: lambda query, annotations: query[:, 0] * annotations},
)
task.changed_each(
    ("no_tanh", "tanh is missing around the features: each should lie between -1 and 1.", {FEATURES: left_out}),
    ("with_relu", "Your features go through ReLU. The formula uses tanh.", {FEATURES: torch.relu}),
    ("scaled", "You divide the scores by √E. Only the scaled dot product is divided like this: leave these scores as they are.", {SCORES: lambda products: products.sum(-1) / products.shape[-1] ** 0.5}),
    ("context_returned", "You return the context. One step is missing: the features are tanh(W_c [c; s]).", {"result": lambda features, weights, *, done: (done["the context"], weights)}),
    ("order_swapped", "You return the weights first. Return the features first.", {"result": lambda features, weights: (weights, features)}),
)  # fmt: skip
