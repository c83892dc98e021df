"""Task 01.sentiment_gradient: the gradient of the mean cross-entropy, by formula."""

from operator import add, matmul, sub, truediv

import torch

from course_lessons.shared.sigmoid_mistakes import SIGMOID_OVERFLOWS, overflowing_sigmoid
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "01.sentiment_gradient",
    "the gradient of the mean cross-entropy, by formula",
    arguments=("sums B×D", "labels B", "weight D", "bias"),
    result=("weight_gradient D", "bias_gradient"),
    difficulty=3,
    importance=3,
    minutes=20,
    hints=(
        (
            "For the cross-entropy of a sigmoid, the derivative with respect to a sentence's score is the difference between its "
            "probability and its label. The chain rule does the rest."
        ),
        (
            "Take two sentences with the sums [2, 0] and [0, 4] and the labels 1 and 0, and let weight and bias be 0. Both probabilities are "
            "0.5, so probability minus label is -0.5 and 0.5. Divided by B = 2, that is -0.25 and 0.25. The gradient of weight is -0.25·[2, 0] + "
            "0.25·[0, 4] = [-0.5, 1], and the gradient of bias is -0.25 + 0.25 = 0."
        ),
        "probability = the sigmoid of (sums times weight, plus bias); error = (probability minus labels) / B; return the matrix product of error (B) and sums (B×D), and the sum of error.",
    ),
)


@task.cases
def _(draw):
    for size in sizes(B=5, D=3):
        labels = (torch.arange(size.B) % 2).float()
        args = (draw.numbers(size.B, size.D), labels, draw.numbers(size.D), draw.numbers(13)[0])
        yield Case(f"{count(size.B, 'sentence')}, width {size.D}", args)
    far = torch.tensor([[1e4], [-1e4], [0.0]])
    yield Case(
        "very large scores, near ±10,000",
        (far, torch.tensor([1.0, 0, 1]), torch.ones(1), torch.tensor(0.0)),
        hazard=True,
    )


@task.oracle
def _(sums, labels, weight, bias):
    weight, bias = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(sums @ weight + bias, labels)
    by_weight, by_bias = torch.autograd.grad(loss, (weight, bias))
    return by_weight, by_bias.item()


@task.steps
def _(sums, labels, weight, bias):
    product = yield "the product of sums and weight", matmul, sums, weight
    scores = yield "the product plus the bias", add, product, bias
    probability = yield "the probabilities", torch.sigmoid, scores
    error = yield "the errors", sub, probability, labels
    share = yield "the error per sentence", truediv, error, len(labels)
    by_weight = yield "the product of errors and sums", matmul, share, sums
    by_bias = yield "the gradient of the bias", torch.sum, share
    return by_weight, by_bias


BY_WEIGHT, BY_BIAS, SHARES = (
    "the product of errors and sums",
    "the gradient of the bias",
    "the error per sentence",
)

task.changed_each(
    ("bias_left_out", "The bias is part of the score, but your probabilities are computed without it.", {"bias": torch.zeros_like}),
    ("overflow", SIGMOID_OVERFLOWS, {"the probabilities": overflowing_sigmoid}),
    ("scores_not_probabilities", "You compare the labels with the scores themselves. The error is the probability minus the label, so apply the sigmoid first.", {"the probabilities": left_out}),
    ("sign_turned", "The sign is flipped: this is the direction in which the loss falls. The gradient contains (p - label), not (label - p).", {"the errors": lambda p, labels: labels - p}),
    ("squared_error", "The factor p(1 - p) belongs to the squared error. With the cross-entropy it cancels, and p - label remains.", {"the errors": lambda p, labels: (p - labels) * p * (1 - p)}),
    ("not_averaged", "You sum over the sentences. The loss is a mean over the sentences, so divide by B.", {SHARES: left_out}),
    ("bias_not_averaged", "The gradient of weight is averaged over the batch, but the gradient of bias is not.", {BY_BIAS: lambda share, *, done: done["the errors"].sum()}),
    ("error_times_weight", "Error times weight is what reaches a sentence's words. The gradient of weight is the error times the sum that weight was multiplied by.", {BY_WEIGHT: lambda share, sums, *, weight: share.sum() * weight}),
    ("order_swapped", "You return the gradient of bias first, but the gradient of weight should come first: `return weight_gradient, bias_gradient`.", {"result": lambda by_weight, by_bias: (by_bias, by_weight)}),
)  # fmt: skip


# One gradient for each sentence, of a loss that is the mean or the sum

weights, biases = {BY_WEIGHT: lambda share, sums: share[:, None] * sums}, {BY_BIAS: left_out}
weights_of_sum = {BY_WEIGHT: lambda share, sums, *, done: done["the errors"][:, None] * sums}
biases_of_sum = {BY_BIAS: lambda share, *, done: done["the errors"]}
task.changed_each(
    ("weight_gradient_per_sentence", "You have a separate weight gradient for each sentence, B×D. There is one loss for the whole batch: add the gradients up over the sentences.", weights),
    ("weight_gradient_not_averaged", "You have a separate weight gradient for each sentence, B×D. The loss is the mean over the batch: take the mean over the sentences here too.", weights_of_sum),
    ("bias_gradient_per_sentence", "Your bias gradient has an entry for each sentence. There is one loss for the whole batch, and one bias: add the entries up.", biases),
    ("bias_gradient_not_averaged", "Your bias gradient is the error of each sentence. The bias is one number, and the loss is a mean: take the mean of the errors.", biases_of_sum),
    ("both_per_sentence", "Both gradients still have an entry for each sentence. There is one loss for the whole batch: add the entries up over the sentences.", weights | biases),
    ("both_not_averaged", "Both gradients still have an entry for each sentence. The loss is a mean over the batch: take the mean over the sentences.", weights_of_sum | biases_of_sum),
)  # fmt: skip
