"""Task 05.rnn_step: one step of a recurrent network."""

from operator import add, matmul

import torch

from course_lessons.lesson_05_seq2seq.tasks._cells import cell_cases
from course_lessons.shared.partial_credit import EDGE
from course_utils.checks.reference_trace import left_out
from course_utils.checks.task import Task

task = Task(
    "05.rnn_step",
    "one step of a recurrent network",
    arguments=("x B×E", "state B×D", "weight_x D×E", "weight_s D×D", "bias D"),
    result="next_state B×D",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "A step mixes what it reads with what it remembers: the word and the old state each go through their own matrix, the two are added, "
        "and tanh keeps every number of the new state between -1 and 1.",
        (
            "Take the word [1, 2], the state [0.5, 1], weight_x [[1, -1], [0, 1]], weight_s [[2, 0], [0, -1]] and the bias [0.5, -1]. The word gives "
            "[1 - 2, 2] = [-1, 2] and the state gives [1, -1]. With the bias the sum is [0.5, 0], and its tanh is [0.4621, 0]."
        ),
        "product_x = x times weight_x transposed, B×D; product_s = state times weight_s transposed, B×D; return the tanh of their sum plus bias.",
    ),
    partial=EDGE,
)


def _inputs(draw, B, E, D):
    x, state, weight_x, weight_s, bias = (draw.numbers(*shape) for shape in ((B, E), (B, D), (D, E), (D, D), (D,)))
    return x, state, weight_x / 2, weight_s / 2, bias / 2 + 0.125  # small enough for tanh to tell numbers apart


cell_cases(task, _inputs)


@task.steps
def _(x, state, weight_x, weight_s, bias):
    product_x = yield "the product of x and weight_x", matmul, x, weight_x.mT
    product_s = yield "the product of state and weight_s", matmul, state, weight_s.mT
    both = yield "the sum of the two products", add, product_x, product_s
    z = yield "the sum with the bias", add, both, bias
    next_state = yield "the tanh", torch.tanh, z
    return next_state


BOTH, Z = "the sum of the two products", "the sum with the bias"
IN_RANGE = "The new state can then leave the range from -1 to 1. Add the two products and the bias first, and take tanh of their sum."
task.changed_each(
    ("no_tanh", "The tanh is missing. Without it, the step is a matrix product, many steps in a row amount to one, and the state can grow without limit.", {"the tanh": left_out}),
    ("with_sigmoid", "You use the sigmoid, whose values lie between 0 and 1. Here it is tanh, with values between -1 and 1.", {"the tanh": torch.sigmoid}),
    ("with_relu", "You use ReLU, which lets the state grow from step to step. Here it is tanh, with values between -1 and 1.", {"the tanh": torch.relu}),
    ("tanh_of_each_bias_with_x", f"You take tanh of each product separately, with the bias added to the one with x. {IN_RANGE}", {BOTH: lambda of_x, of_s, *, bias: (of_x + bias).tanh() + of_s.tanh(), Z: left_out, "the tanh": left_out}),
    ("tanh_of_each_bias_with_state", f"You take tanh of each product separately, with the bias added to the one with the state. {IN_RANGE}", {BOTH: lambda of_x, of_s, *, bias: of_x.tanh() + (of_s + bias).tanh(), Z: left_out, "the tanh": left_out}),
    ("tanh_of_each_bias_outside", f"You take tanh of each product separately, with the bias outside both. {IN_RANGE}", {BOTH: lambda of_x, of_s: of_x.tanh() + of_s.tanh(), "the tanh": left_out}),
    ("bias_outside", "You add the bias after tanh, so the new state can leave the range from -1 to 1. The bias belongs inside.", {Z: left_out, "the tanh": lambda z, *, bias: z.tanh() + bias}),
)  # fmt: skip
task.changed(
    "state_weight_not_transposed",
    "weight_s is the wrong way round. It is D×D, so it fits both ways, and no error warns you. Each of its rows gives one entry of the new state, so it has to be transposed when states are rows.",
    {"weight_s": lambda weight: weight.T},
)
task.changed(
    "formula_word_for_word",
    "The formula is for one word, a column. Here each word and each state is a row of a batch, so the matrices come last and are transposed. As written, the formula runs only if B, E and D happen to fit, and may then give an incorrect result.",
    {
        "the product of x and weight_x": lambda x, turned: turned.T @ x,
        "the product of state and weight_s": lambda state, turned: turned.T @ state,
    },
)


task.changed(
    "overflow",
    "exp overflows: for numbers above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.tanh handles numbers of any size.",
    {"the tanh": lambda z: (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())},
)
