"""Task 05.rnn_step: one step of a recurrent network."""

from course_lessons.lesson_05_seq2seq.tasks._cells import cell_cases
from course_lessons.shared.partial_credit import EDGE
from course_utils.checks.task import Task

task = Task(
    __name__,
    "one step of a recurrent network",
    arguments=("x B×E", "state B×D", "weight_x D×E", "weight_s D×D", "bias D"),
    result="next_state B×D",
    difficulty=2,
    importance=4,
    minutes=10,
    partial=EDGE,
)


def _inputs(draw, B, E, D):
    x, state, weight_x, weight_s, bias = (draw.numbers(*shape) for shape in ((B, E), (B, D), (D, E), (D, D), (D,)))
    return x, state, weight_x / 2, weight_s / 2, bias / 2 + 0.125  # small enough for tanh to tell numbers apart


cell_cases(task, _inputs)
