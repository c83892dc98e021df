"""Task 02.mlp_scores: fixed attention: a small network for each word."""

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
from course_utils.checks.task import Task, count

task = Task(
    "02.mlp_scores",
    "fixed attention: a small network for each word",
    arguments=("words B×S×D", "weight H×D", "bias H", "theta H"),
    result="scores B×S",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "The same small network, with one hidden layer, processes each word on its own. theta then reduces the hidden layer to one number.",
        (
            "Take the word [1, 2], the weight [[1, 0], [1, -1]], the bias [-1, 1] and theta [4, 2]. W x is [1, 1 - 2] = [1, -1]. With the bias, "
            "it is [0, 0]. The sigmoid of 0 is 0.5, so the hidden layer is [0.5, 0.5]. The score is 4·0.5 + 2·0.5 = 3."
        ),
        "hidden = the sigmoid of (words times weight transposed, plus bias), of shape B×S×H; return hidden times theta, of shape B×S.",
    ),
)


@task.cases
def _(draw):
    # S, D and H always differ: what runs only where they are equal stops at once.
    for B, S, D, H in ((1, 2, 3, 4), (2, 2, 3, 4), (1, 5, 3, 4), (1, 2, 5, 4), (1, 2, 4, 3), (2, 5, 7, 3)):
        args = (draw.numbers(B, S, D), draw.numbers(H, D), draw.numbers(H) + 0.25, draw.numbers(H) + 0.25)
        name = f"{count(B, 'sentence')} of {S} words, width {D}, {count(H, 'hidden unit')}"
        yield Case(name, args, D == 7)
    ones = tuple(draw.numbers(*s) for s in ((2, 1, 1), (1, 1), (1,), (1,)))
    yield Case("sentences of one word, one hidden unit", ones, edge=True)
    square = (draw.numbers(2, 3, 3), draw.numbers(3, 3), draw.numbers(3) + 0.25, draw.numbers(3) + 0.25)
    yield Case("S, D and H all 3", square, edge=True)
    far = torch.tensor([[[1e3, 0.0], [-1e3, 1.0]]])
    yield Case("large numbers", (far, torch.ones(2, 2), draw.numbers(2), draw.numbers(2) + 0.25), True, hazard=True)


@task.steps
def _(words, weight, bias, theta):
    product = yield "the product of words and weight", matmul, words, weight.mT
    layer = yield "the product plus the bias", add, product, bias
    hidden = yield "the hidden layer", torch.sigmoid, layer
    scores = yield "the scores", matmul, hidden, theta
    return scores


PRODUCT, SUM = "the product of words and weight", "the product plus the bias"
HIDDEN, SCORES = "the hidden layer", "the scores"
task.changed_each(
    ("no_sigmoid", "Without the non-linearity, two matrices in a row amount to one, and this is dot-product attention again, with a different theta. Apply σ to Wx + b.", {HIDDEN: left_out}),
    ("with_tanh", "You use tanh. Here σ is the logistic sigmoid, with values between 0 and 1.", {HIDDEN: torch.tanh}),
    ("with_relu", "You use ReLU. Here σ is the logistic sigmoid, with values between 0 and 1.", {HIDDEN: torch.relu}),
    ("overflow", SIGMOID_OVERFLOWS, {HIDDEN: overflowing_sigmoid}),
    ("gradient_nan", SIGMOID_GRADIENT, {HIDDEN: sigmoid_by_hand}),
    ("sigmoid_outside", "The sigmoid is outside, around the whole score. Apply it to Wx + b, before theta.", {HIDDEN: left_out, "result": torch.sigmoid}),
    ("no_bias", "The bias is missing.", {SUM: left_out}),
    ("bias_outside", "You add the bias after the sigmoid. It belongs inside: σ(Wx + b).", {SUM: left_out, HIDDEN: lambda z, *, bias: z.sigmoid() + bias}),
    ("theta_unused", "theta is missing: you add up the hidden units, each with weight 1.", {"theta": torch.ones_like}),
    ("normalised", "You apply the softmax as well. Return the scores before they are normalised.", {"result": lambda scores: scores.softmax(-1)}),
)  # fmt: skip


# Products the other way round

words_last = {PRODUCT: lambda words, _, *, weight: weight @ words}
theta_first = {SCORES: lambda hidden, theta: theta @ hidden}
task.changed(
    "not_transposed",
    "weight is H×D. For rows of words, it has to be transposed: `words @ weight.T`. Otherwise this runs only if H = D, and may then give an incorrect result.",
    {PRODUCT: lambda words, turned: words @ turned.mT},
)
task.changed(
    "product_turned",
    product_turned("words", "B×S×D", "weight @ words", "if S, D and H are equal"),
    words_last,
)
task.changed(
    "theta_on_the_left",
    "The factors of the last product are in the wrong order. The axis that disappears, H, is the last one on the left, so the hidden layer comes first. `theta @ hidden` runs only if S = H, and may then give an incorrect result.",
    theta_first,
)
task.changed(
    "formula_word_for_word",
    "The formula is for one word, a column. In `words` (B×S×D), each word is a row, so words come first, weight is transposed and theta comes last. As written, the formula runs only if the sizes happen to fit, and may then give an incorrect result.",
    words_last | theta_first,
)
task.changed(
    "bias_on_words",
    "`weight @ words.mT` is B×H×S, so the bias (H) lines up with the words, not with the hidden units. Put words first: the hidden units are then the last axis, B×S×H, and both the bias and theta fit.",
    {PRODUCT: lambda words, _, *, weight: weight @ words.mT} | theta_first,
)
