"""What the tasks on one step of a recurrent network share: their cases."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, sizes


def cell_cases(task, inputs):
    """Register the cases of a step; `inputs(draw, B, E, D)` draws words B×E, states B×D and the weights."""

    @task.cases
    def _(draw):
        for size in sizes(B=3, E=5, D=7):
            name = f"{count(size.B, 'sentence')}, words of width {size.E}, a state of width {size.D}"
            yield Case(name, inputs(draw, size.B, size.E, size.D), size.full)
        # Not an edge: elsewhere a matrix the wrong way round only raises.
        yield Case("E and D both 5", inputs(draw, 2, 5, 5))
        x, _, *weights = inputs(draw, 3, 5, 7)
        yield Case("a state of zeros, as before the first word", (x, torch.zeros(3, 7), *weights), True, edge=True)
        yield Case("widths of 1", inputs(draw, 1, 1, 1), edge=True)
        yield Case("B, E and D all 3", inputs(draw, 3, 3, 3), edge=True)
        x, state, *weights = inputs(draw, 2, 3, 5)
        yield Case("numbers of ±10,000", (1e4 * x.sign() + 1, state, *weights), hazard=True)
