"""Task 05.gru_step: one step of a gated recurrent unit, as torch.nn.GRUCell takes it."""

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
