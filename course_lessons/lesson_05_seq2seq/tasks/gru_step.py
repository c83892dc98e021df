"""Task 05.gru_step: one step of a gated recurrent unit, as torch.nn.GRUCell takes it."""

from operator import add, matmul, mul, sub

import torch

from course_lessons.lesson_05_seq2seq.tasks._cells import cell_cases
from course_lessons.shared.partial_credit import EDGE
from course_utils.checks.task import Task

task = Task(
    __name__,
    "one step of a gated recurrent unit",
    arguments=("x B×E", "state B×D", "weight_ih 3·D×E", "weight_hh 3·D×D", "bias_ih 3·D", "bias_hh 3·D"),
    result="next_state B×D",
    difficulty=3,
    importance=4,
    minutes=20,
    partial=EDGE,
)


def _inputs(draw, B, E, D):
    x, state, weight_ih, weight_hh, bias_ih, bias_hh = (
        draw.numbers(*shape) for shape in ((B, E), (B, D), (3 * D, E), (3 * D, D), (3 * D,), (3 * D,))
    )
    return x, state, weight_ih / 2, weight_hh / 2, bias_ih / 2 + 0.125, bias_hh / 2 - 0.125


cell_cases(task, _inputs)


@task.steps
def _(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    product_x = yield "the product of x and weight_ih", matmul, x, weight_ih.mT
    of_x = yield "what x contributes", add, product_x, bias_ih
    product_s = yield "the product of state and weight_hh", matmul, state, weight_hh.mT
    of_s = yield "what the state contributes", add, product_s, bias_hh
    reset_x, update_x, new_x = yield "the three pieces of x", _cut, of_x
    reset_s, update_s, new_s = yield "the three pieces of the state", _cut, of_s
    reset_sum = yield "the reset sum", add, reset_x, reset_s
    reset = yield "the reset gate", torch.sigmoid, reset_sum
    update_sum = yield "the update sum", add, update_x, update_s
    update = yield "the update gate", torch.sigmoid, update_sum
    let_through = yield "what is let through", mul, reset, new_s
    new_sum = yield "the new sum", add, new_x, let_through
    new = yield "the candidate", torch.tanh, new_sum
    share = yield "the new share", sub, 1, update
    taken = yield "what is taken", mul, share, new
    kept = yield "what is kept", mul, update, state
    next_state = yield "the sum of the two", add, taken, kept
    return next_state


def _cut(numbers):
    return numbers.chunk(3, -1)
