"""Task 02.error_through_attention: what the backward pass sends to each word."""

from operator import mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

# The result is a gradient itself: none of it is asked for.
task = Task(
    "02.error_through_attention",
    "what the backward pass sends to each word",
    arguments=("weights B×S", "error B×D"),
    result="word_errors B×S×D",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        (
            "Going forward, a word is multiplied by its weight before it enters the sum. Going backward, the error reaches the word through the "
            "same multiplication."
        ),
        (
            "Take a sentence of two words with the weights 0.8 and 0.2, and the error [10, -5]. The first word receives 0.8·[10, -5] = [8, -4], "
            "and the second receives 0.2·[10, -5] = [2, -1]."
        ),
        "Give weights a last axis of size 1 (B×S×1) and error a middle axis of size 1 (B×1×D). Their product is B×S×D.",
    ),
)


@task.cases
def _(draw):
    for size in sizes(B=2, S=5, D=3):
        B, S, D = size.B, size.S, size.D
        weights = (
            draw.numbers(B, S).softmax(-1) if size.full else torch.tensor([0.25, 0.75, 0.0])[:S].expand(B, S).clone()
        )
        yield Case(f"{count(B, 'sentence')} of {S} words, width {D}", (weights, draw.numbers(B, D)))
    one = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    yield Case("one word gets all the weight", (one, draw.numbers(3, 5)), edge=True)
    yield Case("sentences of one word, width 1", (torch.ones(2, 1), draw.numbers(2, 1) + 0.25), edge=True)


@task.steps
def _(weights, error):
    word_errors = yield "the product of weights and error", mul, weights[..., None], error[:, None]
    return word_errors


task.changed_each(
    ("unweighted", "Every word gets the whole error. That is right for the plain sum; attention multiplies the error by the word's weight.", {"weights": torch.ones_like}),
    ("equal_shares", "Every word gets an equal share of the error. That is right for the mean; attention distributes the error by weight.", {"weights": lambda weights: torch.full_like(weights, 1 / weights.shape[1])}),
    ("divided", "You divide by the weights. A multiplication in the forward pass is a multiplication by the same number in the backward pass.", {"weights": torch.reciprocal}),
    ("softmax_again", "You apply a softmax to the weights once more. They are already weights.", {"weights": lambda weights: weights.softmax(-1)}),
    ("softmax_derivative", "a(1 - a) belongs to the error that reaches a score. Return what reaches the word, with the weights held fixed.", {"weights": lambda weights: weights * (1 - weights)}),
)  # fmt: skip

task.changed(
    "words_on_features",
    "`weights * error` lines words up with features. Every weight has to be multiplied by every feature: give weights a last axis and error a middle one. Without them, this runs only if the sizes happen to fit, and then gives an incorrect result.",
    {"the product of weights and error": lambda *_, weights, error: weights * error},
)
task.changed(
    "sentences_on_words",
    "weights has a third axis, but error does not: B×D lines up with S×D, so sentences line up with words. Give error a middle axis, `error[:, None]`.",
    {"the product of weights and error": lambda weights, _, *, error: weights * error},
)
task.changed(
    "transposed",
    "The last two axes are swapped. Return B×S×D, with the words before the features.",
    {"result": lambda word_errors: word_errors.mT},
)
task.changed(
    "added_over_words",
    "Your result has no axis for the words. Each word receives its own error: return B×S×D.",
    {"result": lambda word_errors: word_errors.sum(1)},
)
