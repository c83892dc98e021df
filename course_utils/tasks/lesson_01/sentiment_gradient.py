"""Task 01.sentiment_gradient: the gradient of the mean cross-entropy, by formula."""

from operator import add, matmul, sub, truediv

import torch

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
            "For the cross-entropy of a sigmoid, the derivative with respect to a sentence's score is how far its probability lies from "
            "its label. The chain rule does the rest."
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
    yield Case("float64 numbers", (draw.numbers(5, 3, dtype=torch.float64), torch.tensor([1.0, 0, 0, 1, 1]).double(),
               draw.numbers(3, dtype=torch.float64), draw.numbers(13, dtype=torch.float64)[0]), edge=True)  # fmt: skip
    far = torch.tensor([[1e4], [-1e4], [0.0]])
    yield Case("scores of ±10,000", (far, torch.tensor([1.0, 0, 1]), torch.ones(1), torch.tensor(0.0)), edge=True)


@task.oracle
def _(sums, labels, weight, bias):
    weight, bias = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(sums @ weight + bias, labels)
    by_weight, by_bias = torch.autograd.grad(loss, (weight, bias))
    return by_weight, by_bias.item()


@task.steps
def _(sums, labels, weight, bias):
    product = yield "the product of sums and weight", matmul, sums, weight
    scores = yield "the sum of the product and bias", add, product, bias
    probability = yield "the probabilities", torch.sigmoid, scores
    error = yield "the errors", sub, probability, labels
    share = yield "the errors divided by the number of sentences", truediv, error, len(labels)
    by_weight = yield "the product of errors and sums", matmul, share, sums
    by_bias = yield "the sum of the errors", torch.sum, share
    return by_weight, by_bias


def _error(sums, labels, weight, bias):
    return (sums @ weight + bias).sigmoid() - labels


@task.mistake("You add up over the sentences. The loss is their mean, so divide by B.")
def not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error @ sums, error.sum()


@task.mistake("The gradient of weight is averaged over the batch, but the gradient of bias is not.")
def bias_not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error @ sums / len(sums), error.sum()


@task.mistake(
    "The sign is flipped: this is the direction in which the loss falls. The gradient has (p - label) in it, not (label - p)."
)
def sign_turned(sums, labels, weight, bias):
    error = -_error(sums, labels, weight, bias) / len(sums)
    return error @ sums, error.sum()


@task.mistake(
    "You compare the labels with the scores themselves. The error is the probability minus the label, so apply the sigmoid first."
)
def scores_not_probabilities(sums, labels, weight, bias):
    error = (sums @ weight + bias - labels) / len(sums)
    return error @ sums, error.sum()


@task.mistake(
    "The factor p(1 - p) belongs to the squared error. With the cross-entropy it cancels, and p - label remains."
)
def squared_error(sums, labels, weight, bias):
    p = (sums @ weight + bias).sigmoid()
    error = (p - labels) * p * (1 - p) / len(sums)
    return error @ sums, error.sum()


@task.mistake("The bias is part of the score, but your probabilities are computed without it.")
def bias_left_out(sums, labels, weight, bias):
    error = _error(sums, labels, weight, 0 * bias) / len(sums)
    return error @ sums, error.sum()


@task.mistake(
    "For a large score, exp(z) / (1 + exp(z)) is infinity divided by infinity. Use torch.sigmoid, or 1 / (1 + exp(-z))."
)
def overflow(sums, labels, weight, bias):
    e = (sums @ weight + bias).exp()
    error = (e / (1 + e) - labels) / len(sums)
    return error @ sums, error.sum()


@task.mistake(
    "You return the gradient of bias first. The gradient of weight comes first: `return weight_gradient, bias_gradient`."
)
def order_swapped(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias) / len(sums)
    return error.sum(), error @ sums


@task.mistake(
    "You have a separate weight gradient for each sentence, B×D. There is one loss for the whole batch: add them up over the sentences."
)
def weight_gradient_per_sentence(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias) / len(sums)
    return error[:, None] * sums, error.sum()


@task.mistake(
    "You have a separate weight gradient for each sentence, B×D. The loss is the mean over the batch: take the mean over the sentences "
    "here too."
)
def weight_gradient_not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error[:, None] * sums, error.mean()


@task.mistake(
    "Your bias gradient has an entry for each sentence. There is one loss for the whole batch, and one bias: add the entries up."
)
def bias_gradient_per_sentence(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias) / len(sums)
    return error @ sums, error


@task.mistake(
    "Your bias gradient is the error of each sentence. The bias is one number, and the loss is a mean: take the mean of the errors."
)
def bias_gradient_not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error @ sums / len(sums), error


@task.mistake(
    "Both gradients still have an entry for each sentence. There is one loss for the whole batch: add the entries up over the sentences."
)
def both_per_sentence(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias) / len(sums)
    return error[:, None] * sums, error


@task.mistake(
    "Both gradients still have an entry for each sentence. The loss is a mean over the batch: take the mean over the sentences."
)
def both_not_averaged(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias)
    return error[:, None] * sums, error


@task.mistake(
    "Error times weight is what reaches the words of a sentence. The gradient of weight is the error times the sum that weight was "
    "multiplied by."
)
def error_times_weight(sums, labels, weight, bias):
    error = _error(sums, labels, weight, bias).mean()
    return error * weight, error
