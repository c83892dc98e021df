"""Task 06.bahdanau_step: one look at the source, with a hidden layer that meets state and annotation."""

from operator import add, matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.models.attention import masked_softmax
from course_utils.tasks.lesson_05._padded import with_garbage
from course_utils.tasks.lesson_06._looking import (
    SHARES,
    gaps,
    least_apart,
    masked_with_zeros,
    properties,
    scattered,
    scores_unmasked,
    shared_mistakes,
    summed,
    weights_by_loops,
    without_garbage,
)

task = Task(
    "06.bahdanau_step",
    "a look at the source before each word",
    arguments=("state B×H", "annotations B×S×E", "mask B×S", "weight_s A×H", "weight_h A×E", "v A"),
    result=("context B×E", "weights B×S"),
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Score each annotation against the state, turn the scores of each sentence into weights, and add up the annotations with these weights. The state has one vector for each sentence and the annotations have S: give "
        "the state's part an axis for the words, so that it meets each of them.",
        (
            "Take the state [1], two annotations [0] and [2], W = [[1]], U = [[-1]] and v = [ln 3 / tanh 1] ≈ [1.4425]. W s is 1. The sums are 1 + 0 = 1 and 1 - 2 = -1, tanh of them is 0.7616 and -0.7616, and the scores are "
            "1.0986 and -1.0986, which is ln 3 and -ln 3. Their exponentials are 3 and 1/3, so the weights are 0.9 and 0.1, and the context is 0.9·0 + 0.1·2 = 0.2. If the mask hides the first annotation, the weights are 0 and 1, and "
            "the context is 2."
        ),
        "annotations = zeros where the mask is False; hidden = tanh of (state times weight_s transposed) as B×1×A plus annotations times weight_h transposed, B×S×A; scores = hidden times v, B×S; put -inf where the mask is False; "
        "weights = softmax over S, zeros in place of NaN in empty rows; context = weights as B×S×1 times annotations, summed over S; return context, weights.",
    ),
    partial=SHARES,
)
properties(task)


@task.property
def context_is_weighted_sum(case, value):
    """The context follows from the weights, whatever they are."""
    context, weights = value
    _, annotations, mask, *_ = case.args
    apart = least_apart(context, lambda a: summed(weights.double(), a.double()), annotations, mask)
    return "Your context is not the sum of the annotations with your own weights." if apart > 1e-4 else None


def _inputs(draw, B, S, H, E, A, mask, dtype=torch.float32):
    shapes = ((B, H), (B, S, E), (A, H), (A, E), (A,))
    state, annotations, *weights = (draw.numbers(*shape, dtype=dtype) for shape in shapes)
    weight_s, weight_h, v = weights
    return state, annotations, mask, weight_s / 2 + 0.125, weight_h / 2 - 0.125, v + 0.25


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, H=7, E=11, A=13):
        S = size.S if size.full else size.S + 1  # so that two real places may share a weight
        dims = (size.B, S, size.H, size.E, size.A)
        name = f"{count(size.B, 'sentence')} of {count(S, 'place')}, widths H={size.H}, E={size.E}, A={size.A}"
        yield Case(f"{name}, no padding", _inputs(draw, *dims, torch.ones(size.B, S, dtype=torch.bool)), size.full)
        yield Case(f"{name}, with padding", _inputs(draw, *dims, gaps(draw, size.B, S)), size.full)
    yield Case("padding anywhere in a sentence", _inputs(draw, 3, 5, 2, 3, 2, scattered(draw)))
    yield Case("H, E and A all 5", _inputs(draw, 2, 3, 5, 5, 5, gaps(draw, 2, 3)))
    yield Case("as many sentences as places", _inputs(draw, 3, 3, 2, 5, 7, gaps(draw, 3, 3)))
    one = torch.ones(1, 1, dtype=torch.bool)
    yield Case("a single place, widths of 1", _inputs(draw, 1, 1, 1, 1, 1, one), True, edge=True)
    empty = gaps(draw, 3, 5)
    empty[1] = False
    yield Case("a sentence without words", _inputs(draw, 3, 5, 7, 11, 13, empty), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, 11, 13, gaps(draw, 3, 5), torch.float64), True, edge=True)
    state, annotations, mask, *weights = _inputs(draw, 3, 5, 7, 11, 13, scattered(draw))
    behind = with_garbage(annotations, mask)
    yield Case("NaN and infinity at padding", (state, behind, mask, *weights), True, hazard=True)
    yield Case("200 places", _inputs(draw, 2, 200, 3, 5, 7, gaps(draw, 2, 200)), edge=True)
    # Every tanh is 1 or -1, so scores are exact: ±10,001 and ±9,999. In the second row the real ones lie far below padding's.
    far = torch.tensor([[[1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], [[-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0]]])
    far_mask = torch.tensor([[True, True, False], [True, True, False]])
    far_weights = (torch.ones(2, 1), 100 * torch.eye(2), torch.tensor([1e4, 1.0]))
    yield Case("scores of ±10,000", (torch.tensor([[2.0], [-1.0]]), far, far_mask, *far_weights), hazard=True)


@task.oracle
def _(state, annotations, mask, weight_s, weight_h, v):
    annotations, scores = torch.where(mask[..., None], annotations, 0.0), []
    for s, sentence in zip(state, annotations, strict=True):
        for h in sentence:
            scores.append(sum(v[a] * torch.tanh(weight_s[a] @ s + weight_h[a] @ h) for a in range(len(v))))
    weights = weights_by_loops(torch.stack(scores).reshape(mask.shape), mask)
    return torch.stack([sum(w * h for w, h in zip(*row, strict=True)) for row in zip(weights, annotations)]), weights  # noqa: B905


@task.steps
def _(state, annotations, mask, weight_s, weight_h, v):
    annotations = without_garbage(annotations, mask)
    of_state = yield "the product of state and weight_s", matmul, state, weight_s.mT
    of_words = yield "the product of annotations and weight_h", matmul, annotations, weight_h.mT
    layer = yield "the sum of the two products", add, of_state[:, None], of_words
    units = yield "the hidden layer", torch.tanh, layer
    scores = yield "the scores", matmul, units, v
    masked = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    softmax = yield "the softmax", lambda masked: masked.softmax(-1), masked
    weights = yield "the weights", lambda softmax, mask: softmax.masked_fill(~mask, 0.0), softmax, mask
    parts = yield "the weighted annotations", lambda weights, h: weights[..., None] * h, weights, annotations
    context = yield "the context", lambda parts: parts.sum(1), parts
    return context, weights


def _layer(annotations, state, weight_s, weight_h):
    return (state @ weight_s.T)[:, None] + annotations @ weight_h.T  # B S A


def _score(annotations, state, weight_s, weight_h, v):
    return torch.tanh(_layer(annotations, state, weight_s, weight_h)) @ v


def _look(score, state, annotations, mask, *weights):
    """A right look but for its score, function(annotations, state, *weights)."""
    annotations = without_garbage(annotations, mask)
    shares = masked_softmax(score(annotations, state, *weights), mask)
    return summed(shares, annotations), shares


shared_mistakes(
    task,
    _score,
    lambda context, weights, *_: (context, weights),
    {
        "scores_unmasked": (
            "The mask reaches the annotations and not the scores. An annotation of zeros has a score like any other, and takes weight from the words: put -inf in place of its score, too.",
            scores_unmasked,
        ),
        "masked_with_zeros": (
            "Masked scores become 0 or nearly 0 (-1e-9 is a tiny number, not a very negative one). exp(0) = 1 is a weight like any other. Use -inf.",
            masked_with_zeros,
        ),
    },
)


@task.mistake("tanh is missing: without it the state adds the same to every score, and the softmax does not see it.")
def no_tanh(*args):
    return _look(lambda h, s, weight_s, weight_h, v: _layer(h, s, weight_s, weight_h) @ v, *args)


@task.mistake("You use ReLU. This score has tanh, which keeps each hidden unit between -1 and 1.")
def with_relu(*args):
    return _look(lambda h, s, weight_s, weight_h, v: _layer(h, s, weight_s, weight_h).relu() @ v, *args)


@task.mistake("You use the logistic sigmoid. This score has tanh.")
def with_sigmoid(*args):
    return _look(lambda h, s, weight_s, weight_h, v: _layer(h, s, weight_s, weight_h).sigmoid() @ v, *args)


@task.mistake("tanh stands outside, around the whole score. It belongs around W s + U h, before v.")
def tanh_outside(*args):
    return _look(lambda h, s, weight_s, weight_h, v: (_layer(h, s, weight_s, weight_h) @ v).tanh(), *args)


@task.mistake("v is missing: you add up the hidden units, each with weight 1.")
def v_unused(*args):
    return _look(lambda h, s, weight_s, weight_h, v: _layer(h, s, weight_s, weight_h).tanh().sum(-1), *args)


@task.mistake(
    "The state has no effect on the weights: whatever the decoder has written so far, it looks at the same places. That is so where it is left out, and also where tanh is taken of each side by itself, since the state then adds the same "
    "to every score. Add W s to each U h, and take tanh of the sum."
)
def state_unused(*args):
    return _look(lambda h, s, weight_s, weight_h, v: torch.tanh(h @ weight_h.T) @ v + 0 * s.sum(), *args)


@task.mistake("You divide the scores by √A. That belongs to the scaled dot product: leave these as they are.")
def scaled(*args):
    return _look(lambda h, s, *weights: _score(h, s, *weights) / len(weights[-1]) ** 0.5, *args)


@task.mistake(
    "The state's part has no axis for the words, so it is added place by place, which runs only where B = S: place i then meets the state of sentence i. Give it an axis in the middle, B×1×A."
)
def state_lined_up_with_words(*args):
    return _look(lambda h, s, weight_s, weight_h, v: torch.tanh(s @ weight_s.T + h @ weight_h.T) @ v, *args)


@task.mistake(
    "The two matrices are exchanged: weight_s belongs to the state, weight_h to the annotations. Exchanged, they run only where H = E, and give a wrong result there."
)
def matrices_exchanged(*args):
    return _look(lambda h, s, weight_s, weight_h, v: _score(h, s, weight_h, weight_s, v), *args)


@task.mistake(
    "weight_s is A×H and weight_h is A×E. For rows of vectors they have to be transposed: `.T`. Without that this runs only where A, H and E are equal, and gives a wrong result there."
)
def not_transposed(*args):
    return _look(lambda h, s, weight_s, weight_h, v: _score(h, s, weight_s.T, weight_h.T, v), *args)


@task.mistake(
    "You add up U h, what the score makes of the annotations. The context is the weighted sum of the annotations themselves: B×E."
)
def keys_summed(state, annotations, mask, weight_s, weight_h, v):
    annotations = without_garbage(annotations, mask)
    weights = masked_softmax(_score(annotations, state, weight_s, weight_h, v), mask)
    return summed(weights, annotations @ weight_h.T), weights


@task.mistake("You return the weights first. Return the context first, then the weights.")
def order_swapped(*args):
    context, weights = _look(_score, *args)
    return weights, context


@task.mistake("You return only the context. Return the weights too, behind it.")
def context_alone(*args):
    return _look(_score, *args)[0]


@task.mistake(
    "Your context is the mean of the weighted annotations: it is too small, by the number of places. The weights sum to 1 already: add up."
)
def mean_for_sum(state, annotations, mask, *weights):
    context, shares = _look(_score, state, annotations, mask, *weights)
    return context / mask.shape[1], shares


@task.mistake(
    "Your context still has an axis for the words, B×S×E: these are the weighted annotations. Add them up over the words."
)
def not_summed(state, annotations, mask, *weights):
    _, shares = _look(_score, state, annotations, mask, *weights)
    return shares[..., None] * without_garbage(annotations, mask), shares


@task.mistake(
    "Scores at padding become 0, and their weights 0 after the softmax. In between, exp(0) = 1 took a share of the sum, so the weights of the words sum to less than 1. Put -inf in place of these scores before the softmax."
)
def zeros_before_and_after_the_softmax(state, annotations, mask, *weights):
    annotations = without_garbage(annotations, mask)
    shares = (_score(annotations, state, *weights) * mask).softmax(-1) * mask
    return summed(shares, annotations), shares
