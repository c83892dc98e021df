"""Task 02.error_at_score: what the backward pass sends to each score."""

from operator import matmul, mul, sub

import torch

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

# The result is a gradient itself: none of it is asked for. A word of padding has the weight 0, so no mask is needed.
task = Task(
    "02.error_at_score",
    "what the backward pass sends to each score",
    arguments=("weights B×S", "words B×S×D", "error B×D"),
    result="score_errors B×S",
    difficulty=3,
    importance=4,
    minutes=30,
    hints=(
        "Raising one score raises the weight of its word and lowers all other weights, because they sum to 1. A higher score therefore moves the "
        "context towards its own word and away from where the context is now. The error says whether a move in that direction raises or lowers the loss.",
        "Two words at 0 and 8 on a line have the weights 3/4 and 1/4, so the context is 2. Raise the second score a little, by h. Its weight "
        "grows by h · 1/4 · 3/4, the first word loses the same amount, and the context moves by h · 3/16 · 8 = 1.5 h. That is also 1/4 of 6, the distance "
        "from the context to the second word. If the error at the context is -2, then -3 reaches the second score.",
        "context = the words summed with their weights, B×1×D; apart = words minus context, B×S×D; along = the products of apart and error (with a middle axis), summed over the features, B×S; the result is along times weights.",
    ),
)


def _weights(draw, B, S):
    if S > 3:
        return draw.numbers(B, S).softmax(-1)
    parts = torch.tensor([0.25, 0.75] if S == 2 else [0.25, 0.75, 0.0])
    return torch.stack([parts[draw.distinct(S, 0, S)] for _ in range(B)])


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of {S} words, width {D}"
        yield Case(name, (_weights(draw, B, S), draw.numbers(B, S, D), draw.numbers(B, D)))
    padded = _weights(draw, 2, 5) * torch.tensor([[1.0, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    padded = padded / padded.sum(-1, keepdim=True)
    yield Case("a sentence with padding, whose weights are 0", (padded, draw.numbers(2, 5, 3), draw.numbers(2, 3)))
    nothing = torch.tensor([[0.25, 0.75], [0.0, 0.0]])
    # A softmax of no scores is no softmax of scores: PyTorch's own gradient of it is NaN.
    yield Case("a sentence of padding only", (nothing, draw.numbers(2, 2, 3), draw.numbers(2, 3)), hazard=True)
    one = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    yield Case("one word gets all the weight", (one, draw.numbers(2, 2, 3), draw.numbers(2, 3)), edge=True)
    single = (torch.ones(2, 1), draw.numbers(2, 1, 1), draw.numbers(2, 1) + 0.25)
    yield Case("sentences of one word, width 1", single, edge=True)


@task.steps
def _(weights, words, error):
    context = yield "the context", matmul, weights[:, None], words
    apart = yield "the differences", sub, words, context
    along = yield "the products with the error", mul, apart, error[:, None]
    total = yield "the sum over the features", lambda along: along.sum(-1), along
    score_errors = yield "the product with the weights", mul, weights, total
    return score_errors


# The context, and how far a word lies from it

no_context, no_weight = (
    {"the differences": left_out},
    {"the product with the weights": lambda _, total: total},
)
derivative_alone = {"the product with the weights": lambda weights, total: weights * (1 - weights) * total}
task.changed_each(
    ("context_forgotten", "You leave out the context. If one score rises, the other weights fall, since all of them sum to 1. What counts is how far the word is from the context, so subtract the context from it first.", no_context),
    ("weight_forgotten", "You leave out the weight. A word with hardly any weight has hardly any effect on the context, so little of the error reaches its score: multiply by the word's weight.", no_weight),
    ("error_at_weights", "This is what reaches each weight. Between the weights and the scores there is the softmax, and the error has to go back through it too.", no_context | no_weight),
    ("fall_counted_twice", "You multiply by a(1 - a) and also subtract the context. Both account for the fall of the other weights. Once the context is subtracted, the factor is the word's own weight.", derivative_alone),
    ("diagonal_alone", "a(1 - a) is only the diagonal of the softmax's derivative: how a score moves its own weight. A score also moves the other weights, and these move the context as well.", no_context | derivative_alone),
    ("sign_turned", "The sign is reversed. A higher score moves the context towards its own word, so the difference is the word minus the context.", {"the differences": lambda words, context: context - words}),
    ("sum_not_weighted", "From each word's share, a·(x·δ), you subtract the sum of all shares. Each score gets only its own part of that sum: multiply the sum by the word's weight, which gives a·(x·δ - sum).", {"the differences": left_out, "result": lambda at_scores: at_scores - at_scores.sum(1, keepdim=True)}),
    ("weighted_before_difference", "You multiply the word by its weight before you subtract the context. The difference is between the word itself and the context; multiply by the weight afterwards.", {"the differences": lambda words, context, *, weights: weights[..., None] * words - context}),
    ("mean_for_context", "You subtract the plain mean of the words. The context is their weighted sum, in which each word counts according to its weight.", {"the context": lambda _, words: words.mean(1, keepdim=True)}),
)  # fmt: skip


# Axes

task.changed(
    "context_without_axis",
    "Your context is B×D and the words are B×S×D, so sentences line up with words, and this runs only if the sizes happen to fit. Keep an axis of size 1 in the middle, with `keepdim=True` or `[:, None]`.",
    {"the differences": lambda words, context: words - context[:, 0]},
)
task.changed(
    "total_without_axis",
    "The sum over the words has the shape B and lines up with the words of a B×S tensor, not with the sentences. Keep an axis of size 1 at its end, with `keepdim=True`.",
    no_context | {"the product with the weights": lambda weights, at: weights * (at - (weights * at).sum(-1))},
)
task.changed(
    "added_over_sentences",
    "You also sum over the sentences in the batch. Each score belongs to one sentence, so the result is B×S: sum over the features alone.",
    {"result": lambda score_errors: score_errors.sum(0)},
)
task.changed(
    "products_added_over_sentences",
    "You sum the products over the sentences as well as over the features, before you multiply by the weights. Sum over the features alone, the last axis.",
    {"the sum over the features": lambda along: along.sum((0, -1))},
)
task.changed(
    "not_added",
    "You still have one number per feature. Sum the products over the features: the result is B×S.",
    {"the sum over the features": left_out, "the product with the weights": lambda a, along: a[..., None] * along},
)
task.changed(
    "error_at_words",
    "This is what reaches each word's vector, as in the previous exercise. A score is one number per word, and so is the error that reaches it.",
    {"result": lambda _, *, weights, error: weights[..., None] * error[:, None]},
)
