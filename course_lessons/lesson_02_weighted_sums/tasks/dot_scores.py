"""Task 02.dot_scores: fixed attention: one dot product per word."""

from operator import matmul, mul

from torch.nn.functional import cosine_similarity

from course_lessons.shared.sigmoid_mistakes import product_turned
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "02.dot_scores",
    "fixed attention: one dot product per word",
    arguments=("words B×S×D", "theta D"),
    result="scores B×S",
    difficulty=1,
    importance=4,
    minutes=5,
    hints=(
        "theta asks one question of every word in every sentence. The answer is one number per word.",
        (
            "Take a sentence of two words, [1, 2] and [3, -1], and theta [2, 1]. The first score is 1·2 + 2·1 = 4, the second is 3·2 + (-1)·1 = "
            "5. Each word gets one number: the feature axis is gone, and the word axis is still there."
        ),
        "The matrix product of words (B×S×D) and theta (D) does it. So does multiplying the two and summing over the last axis.",
    ),
)


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of {S} words, width {D}"
        yield Case(name, (draw.numbers(B, S, D), draw.numbers(D)), size.full)
    yield Case("sentences of one word, width 1", (draw.numbers(2, 1, 1), draw.numbers(1)), edge=True)
    yield Case("large numbers", (100 * (draw.numbers(2, 3, 2) + 0.25), draw.numbers(2) + 0.25), edge=True)


@task.steps
def _(words, theta):
    scores = yield "the scores", matmul, words, theta
    return scores


task.changed_each(
    ("normalised", "You apply the softmax as well. Return the scores before they are normalised.", {"the scores": lambda words, theta: (words @ theta).softmax(-1)}),
    ("scaled", "You divide by √D. Lesson 04 introduces that scaling; here, return the plain dot product.", {"the scores": lambda words, theta: words @ theta / len(theta) ** 0.5}),
    ("not_added", "You multiply but do not add up. Each word gets one number, so sum over the features, the last axis.", {"the scores": mul}),
    ("added_over_words", "You sum over the words, axis 1. Each word has its own score: sum over its features, the last axis.", {"the scores": lambda words, theta: (words * theta).sum(1)}),
    ("cosine", "You divide by the lengths, which gives the cosine. Return the plain dot product, without dividing it.", {"the scores": lambda words, theta: cosine_similarity(words, theta, dim=-1)}),
    ("trailing_axis", "Your scores have an extra axis of size 1 at the end. A softmax over that axis would make every weight 1: remove it with squeeze.", {"the scores": lambda words, theta: words @ theta[:, None]}),
    ("product_turned", product_turned("words", "B×S×D", "theta @ words", "if S = D"), {"the scores": lambda words, theta: theta @ words}),
)  # fmt: skip
