"""Task 01.sentiment: logistic regression on the sums."""

from operator import add, matmul

import torch

from course_lessons.shared.sigmoid_mistakes import (
    SIGMOID_GRADIENT,
    SIGMOID_OVERFLOWS,
    overflowing_sigmoid,
    product_turned,
    sigmoid_by_hand,
)
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "01.sentiment",
    "logistic regression on the sums",
    arguments=("sums B×D", "weight D", "bias"),
    result="probability B",
    difficulty=1,
    importance=4,
    minutes=10,
    hints=(
        "There are two steps: first a score for each sentence, then the sigmoid, which turns the score into a probability between 0 and 1.",
        (
            "Take the weight [1, -3] and the bias 1. A sentence with the sum [2, 1] has the score 2·1 + 1·(-3) + 1 = 0, and σ(0) = 1 / (1 + 1) = "
            "0.5. A sentence with the sum [3, 1] has the score 1, and σ(1) = 1 / (1 + 0.3679) = 0.7311. Two sentences give two numbers."
        ),
        "scores = the matrix product of sums (B×D) and weight (D), plus bias; return the sigmoid of scores, of shape (B,).",
    ),
)


@task.cases
def _(draw):
    for size in sizes(B=3, D=5):
        yield Case(
            f"{count(size.B, 'sentence')}, width {size.D}",
            (draw.numbers(size.B, size.D), draw.numbers(size.D), draw.numbers(13)[0]),
            size.full,
        )
    yield Case(
        "a clearly positive and a clearly negative sentence",
        (torch.tensor([[4.0], [-4.0], [0.5]]), torch.full((1,), 2.0), draw.numbers(13)[0] / 4),
    )
    far = (torch.tensor([[1e4], [-1e4], [0.0]]), torch.ones(1), torch.tensor(0.0))
    yield Case("scores of ±10,000", far, True, hazard=True)


@task.steps
def _(sums, weight, bias):
    product = yield "the product of sums and weight", matmul, sums, weight
    scores = yield "the product plus the bias", add, product, bias
    probability = yield "the probabilities", torch.sigmoid, scores
    return probability


EACH_FEATURE = "You take the sigmoid of each feature and then add up, so a result may be above 1. Add up first: compute one score for each sentence, then take its sigmoid."
task.changed_each(
    ("no_sigmoid", "These are the scores, not yet probabilities: the sigmoid is missing.", {"the probabilities": left_out}),
    ("other_class", "You return the probability of the negative class: the sign of the score is flipped.", {"the probabilities": lambda scores: (-scores).sigmoid()}),
    ("softmax_over_batch", "A softmax makes the sentences in a batch compete with one another. Each sentence has its own probability, the sigmoid of its score.", {"the probabilities": lambda scores: scores.softmax(0)}),
    ("decided", "You return decisions, 0 or 1. Return the probability itself, before any threshold.", {"the probabilities": lambda scores: (scores > 0).float()}),
    ("overflow", SIGMOID_OVERFLOWS, {"the probabilities": overflowing_sigmoid}),
    ("gradient_nan", SIGMOID_GRADIENT, {"the probabilities": sigmoid_by_hand}),
)  # fmt: skip

no_bias = {"the product plus the bias": left_out}
task.changed_each(
    ("no_bias", "The bias is missing from the score.", no_bias),
    ("bias_after_sigmoid", "You add the bias after the sigmoid. It belongs to the score: add it before.", no_bias | {"result": lambda probability, *, bias: probability + bias}),
    ("bias_for_each_feature", "You add the bias to each feature before the sum, so it counts D times. Add it once, to the score.", {"bias": lambda bias, *, weight: len(weight) * bias}),
    ("sigmoid_for_each_feature", EACH_FEATURE, {"result": lambda _, *, sums, weight, bias: (sums * weight + bias).sigmoid().sum(1)}),
    ("sigmoid_for_each_feature_and_bias_after", f"{EACH_FEATURE} The bias also belongs to the score.", {"result": lambda _, *, sums, weight, bias: (sums * weight).sigmoid().sum(1) + bias}),
    ("column", "Your result has shape (B, 1), but it should have shape (B,). Minus labels of shape (B,), it would broadcast to B×B without an error, and the gradient would be wrong.", {"result": lambda probability: probability[:, None]}),
    ("product_turned", product_turned("sums", "B×D", "weight @ sums", "if B = D"), {"the product of sums and weight": lambda sums, weight: weight @ sums}),
)  # fmt: skip
