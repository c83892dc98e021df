"""Task 02.mlp_scores: fixed attention: a small network a word."""

from operator import add, matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "02.mlp_scores",
    "fixed attention: a small network a word",
    arguments=("words B×S×D", "weight H×D", "bias H", "theta H"),
    result="scores B×S",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "The same network with one hidden layer looks at every word on its own; theta then asks its question of the hidden layer.",
        "scores_(b,s) = θᵀ σ(W x_(b,s) + b), with the logistic σ(z) = 1/(1 + exp(-z)); W is H×D, so W x means x (D) times W transposed (D×H).",
        "hidden = sigmoid(words @ weight transposed + bias), shape B×S×H; return hidden @ theta, shape B×S.",
    ),
)


@task.cases
def _(draw):
    for size in sizes(B=2, S=5, D=7, H=3):
        B, S, D, H = size.B, size.S, size.D, size.H
        args = (draw.numbers(B, S, D), draw.numbers(H, D), draw.numbers(H) + 0.25, draw.numbers(H) + 0.25)
        name = f"{count(B, 'sentence')} of {S} words, width {D}, {count(H, 'hidden unit')}"
        yield Case(name, args, size.full)
    shapes = ((2, 5, 7), (3, 7), (3,), (3,))
    yield Case("float64 numbers", tuple(draw.numbers(*s, dtype=torch.float64) for s in shapes), edge=True)
    ones = tuple(draw.numbers(*s) for s in ((2, 1, 1), (1, 1), (1,), (1,)))
    yield Case("sentences of one word, one hidden unit", ones, edge=True)
    far = torch.tensor([[[1e3, 0.0], [-1e3, 1.0]]])
    yield Case("large numbers", (far, torch.ones(2, 2), draw.numbers(2), draw.numbers(2) + 0.25), edge=True)


@task.oracle
def _(words, weight, bias, theta):
    hidden = torch.einsum("bsd,hd->bsh", words, weight) + bias
    return sum(theta[h] * (hidden[..., h].div(2).tanh() + 1) / 2 for h in range(len(theta)))


@task.steps
def _(words, weight, bias, theta):
    product = yield "the product of words and weight", matmul, words, weight.mT
    layer = yield "the sum of the product and bias", add, product, bias
    hidden = yield "the hidden layer", torch.sigmoid, layer
    scores = yield "the product of the hidden layer and theta", matmul, hidden, theta
    return scores


@task.mistake(
    "Without the non-linearity two matrices in a row are one matrix: this is dot-product attention in disguise. σ goes around Wx + b."
)
def no_sigmoid(words, weight, bias, theta):
    return (words @ weight.T + bias) @ theta


@task.mistake("You use tanh. Here σ is the logistic sigmoid, between 0 and 1.")
def with_tanh(words, weight, bias, theta):
    return (words @ weight.T + bias).tanh() @ theta


@task.mistake("You use ReLU. Here σ is the logistic sigmoid, between 0 and 1.")
def with_relu(words, weight, bias, theta):
    return (words @ weight.T + bias).relu() @ theta


@task.mistake("The bias is missing.")
def no_bias(words, weight, bias, theta):
    return (words @ weight.T).sigmoid() @ theta


@task.mistake("The bias comes after the sigmoid in yours. It belongs inside: σ(Wx + b).")
def bias_outside(words, weight, bias, theta):
    return ((words @ weight.T).sigmoid() + bias) @ theta


@task.mistake("theta is missing: the hidden units are added up with weight 1.")
def theta_unused(words, weight, bias, theta):
    return (words @ weight.T + bias).sigmoid().sum(-1)


@task.mistake("The sigmoid stands outside, around the score. It belongs around Wx + b, before theta.")
def sigmoid_outside(words, weight, bias, theta):
    return ((words @ weight.T + bias) @ theta).sigmoid()


@task.mistake("You go on to the softmax. Return the scores, before they are normalised.")
def normalised(words, weight, bias, theta):
    return ((words @ weight.T + bias).sigmoid() @ theta).softmax(-1)


@task.mistake(
    "weight is H×D: for rows of words it has to be transposed, `words @ weight.T`. Without it this runs only where H = D, and is wrong there."
)
def not_transposed(words, weight, bias, theta):
    return (words @ weight + bias).sigmoid() @ theta


@task.mistake("exp(z) / (1 + exp(z)) is infinity over infinity for a large z. Use torch.sigmoid, or 1 / (1 + exp(-z)).")
def overflow(words, weight, bias, theta):
    e = (words @ weight.T + bias).exp()
    return (e / (1 + e)) @ theta


@task.mistake(
    "The order of the product is turned round: in a matrix product the axis that goes away stands last on the left. That is D, "
    "so `words` (B×S×D) comes first. `weight @ words` runs only where S, D and H are alike, and is wrong there."
)
def product_turned(words, weight, bias, theta):
    return (weight @ words + bias).sigmoid() @ theta


@task.mistake(
    "The last product is turned round: the axis that goes away, H, stands last on the left, so the hidden layer comes first. "
    "`theta @ hidden` runs only where S = H, and is wrong there."
)
def theta_on_the_left(words, weight, bias, theta):
    return theta @ (words @ weight.T + bias).sigmoid()
