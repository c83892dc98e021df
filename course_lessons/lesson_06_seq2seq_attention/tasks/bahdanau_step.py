"""Task 06.bahdanau_step: one look at the source, with a hidden layer that meets state and annotation."""

from operator import add, matmul

import torch

from course_lessons.lesson_06_seq2seq_attention.tasks import _looking
from course_lessons.lesson_06_seq2seq_attention.tasks._looking import CLEAN, CONTEXT, MASKED, SCORES, WEIGHTS
from course_lessons.shared.mask_mistakes import filled
from course_lessons.shared.padding_mistakes import summed, without_garbage
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "06.bahdanau_step",
    "Bahdanau attention, before each word",
    arguments=("state B×H", "annotations B×S×E", "mask B×S", "weight_s A×H", "weight_h A×E", "v A"),
    result=("context B×E", "weights B×S"),
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Score each annotation against the state, turn the scores of each sentence into weights, and add up the annotations with these weights. The state has one vector for each sentence and the annotations have S: give the state's part an axis for the words, so that it is added to each of them.",
        (
            "Take the state [1], two annotations [0] and [2], W = [[1]], U = [[-1]] and v = [ln 3 / tanh 1] ≈ [1.4425]. W s is 1. The sums are 1 + 0 = 1 and 1 - 2 = -1, tanh of them is 0.7616 and -0.7616, and the scores are "
            "1.0986 and -1.0986, which is ln 3 and -ln 3. Their exponentials are 3 and 1/3, so the weights are 0.9 and 0.1, and the context is 0.9·0 + 0.1·2 = 0.2. If the mask hides the first annotation, the weights are 0 and 1, and "
            "the context is 2."
        ),
        "annotations = zeros where the mask is False; hidden = tanh of (state times weight_s transposed) as B×1×A plus annotations times weight_h transposed, B×S×A; scores = hidden times v, B×S; put -inf where the mask is False; "
        "weights = softmax over S, zeros instead of NaN in empty rows; context = weights as B×S×1 times annotations, summed over S; return context, weights.",
    ),
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


OF_STATE, OF_WORDS = "the product of state and weight_s", "the product of annotations and weight_h"
SUM, HIDDEN = "the sum of the two products", "the hidden layer"


@task.steps
def _(state, annotations, mask, weight_s, weight_h, v):
    annotations = yield CLEAN, without_garbage, annotations, mask
    of_state = yield OF_STATE, matmul, state, weight_s.mT
    of_words = yield OF_WORDS, matmul, annotations, weight_h.mT
    layer = yield SUM, add, of_state[:, None], of_words
    units = yield HIDDEN, torch.tanh, layer
    scores = yield SCORES, matmul, units, v
    return (yield from _looking.looking(scores, annotations, mask))


_looking.look_mistakes(task)
task.changed(
    "scores_unmasked",
    "The mask reaches the annotations but not the scores. An annotation of zeros has a score like any other and takes weight from the words: also replace its score with -inf.",
    {MASKED: left_out, WEIGHTS: left_out},
)
task.changed(
    "masked_with_zeros",
    "Masked scores become 0 or nearly 0 (-1e-9 is a tiny number, not a very negative one). exp(0) = 1 is a weight like any other. Use -inf.",
    {CLEAN: left_out, MASKED: filled(0.0), WEIGHTS: left_out},
)
task.changed(
    "state_unused",
    "The state has no effect on the weights: whatever the decoder has written so far, it attends to the same positions. That happens if it is left out, or if tanh is applied to each product separately, since the state then adds the same number to every score. Add W s to each U h, and take tanh of the sum.",
    {SUM: lambda of_state, of_words, *, state: of_words + 0 * state.sum()},
)
task.changed(
    "state_lined_up_with_words",
    "The state's part has no axis for the words, so it is added position by position. With several sentences, that runs only if B = S, and then pairs position i with the state of sentence i. Give it an axis in the middle, B×1×A.",
    {SUM: lambda of_state, of_words: of_state[:, 0] + of_words},
)
task.changed_each(
    ("keys_summed", "You add up U h, the annotations after the score's matrix. The context is the weighted sum of the annotations themselves: B×E.", {CONTEXT: lambda parts, *, weight_h: parts.sum(1) @ weight_h.mT}),
    ("no_tanh", "tanh is missing: without it, the state adds the same number to every score, which does not change the softmax.", {HIDDEN: left_out}),
    ("with_relu", "You use ReLU. This score uses tanh, which keeps each hidden unit between -1 and 1.", {HIDDEN: torch.relu}),
    ("with_sigmoid", "You use the logistic sigmoid. This score uses tanh.", {HIDDEN: torch.sigmoid}),
    ("tanh_outside", "tanh is outside, around the whole score. Apply it to W s + U h, before v.", {HIDDEN: left_out, SCORES: lambda units, v: (units @ v).tanh()}),
    ("scaled", "You divide the scores by √A. Only the scaled dot product is divided like this: leave these scores as they are.", {SCORES: lambda units, v: units @ v / len(v) ** 0.5}),
    ("order_swapped", "You return the weights first. Return the context first, then the weights.", {"result": lambda context, weights: (weights, context)}),
    ("every_sentence_with_every_other", "Your context has an axis too many, B×B×E: a product of weights B×S and annotations B×S×E takes each sentence's weights to the annotations of all sentences. Give the weights an axis in the middle, B×1×S, and remove that axis from the product.", {CLEAN: left_out, CONTEXT: lambda parts, *, annotations, done: done[WEIGHTS] @ annotations}),
    ("not_summed", "Your context still has an axis for the words, B×S×E: these are the weighted annotations. Add them up over the words.", {CONTEXT: left_out}),
)  # fmt: skip
