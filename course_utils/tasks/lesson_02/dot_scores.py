"""Task 02.dot_scores: fixed attention: one dot product a word."""

from operator import matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "02.dot_scores",
    "fixed attention: one dot product a word",
    arguments=("words B×S×D", "theta D"),
    result="scores B×S",
    difficulty=1,
    importance=4,
    minutes=5,
    hints=(
        "One question, theta, is asked of every word of every sentence. The answer is one number per word.",
        "scores_(b,s) = Σ_d words_(b,s,d) · theta_d: the feature axis goes away, B and S stay.",
        "A matrix product of words (B×S×D) with theta (D) does it; so does multiplying and summing over the last axis.",
    ),
)


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of {S} words, width {D}"
        yield Case(name, (draw.numbers(B, S, D), draw.numbers(D)), size.full)
    yield Case(
        "float64 numbers",
        (draw.numbers(3, 5, 7, dtype=torch.float64), draw.numbers(13, dtype=torch.float64)[:7]),
        edge=True,
    )
    yield Case("sentences of one word, width 1", (draw.numbers(2, 1, 1), draw.numbers(1)), edge=True)
    yield Case("large numbers", (100 * (draw.numbers(2, 3, 2) + 0.25), draw.numbers(2) + 0.25), edge=True)


@task.oracle
def _(words, theta):
    return torch.stack(
        [torch.stack([sum(x * t for x, t in zip(word, theta, strict=True)) for word in s]) for s in words]
    )


@task.steps
def _(words, theta):
    scores = yield "the scores", matmul, words, theta
    return scores


@task.mistake("You go on to the softmax. Return the scores, before they are normalised.")
def normalised(words, theta):
    return (words @ theta).softmax(-1)


@task.mistake("You divide by √D. That scaling comes in lesson 04; here, return the plain dot product.")
def scaled(words, theta):
    return words @ theta / theta.numel() ** 0.5


@task.mistake("You multiply but do not add up. Each word gets one number, so sum over the features, the last axis.")
def not_added(words, theta):
    return words * theta


@task.mistake("You add over the words, axis 1. Each word has a score of its own: add over its features, the last axis.")
def added_over_words(words, theta):
    return (words * theta).sum(1)


@task.mistake("You divide by the lengths: that is the cosine. The dot product keeps them.")
def cosine(words, theta):
    return torch.nn.functional.cosine_similarity(words, theta, dim=-1)


@task.mistake(
    "Your scores have a trailing axis of size 1. Softmax over that axis would make every weight 1: squeeze it away."
)
def trailing_axis(words, theta):
    return words @ theta[:, None]


@task.mistake(
    "The order of the product is turned round: in a matrix product the axis that goes away stands last on the left. That is D, "
    "so `words` (B×S×D) comes first. `theta @ words` runs only where S = D, and is wrong there."
)
def product_turned(words, theta):
    return theta @ words
