"""Task 17.link_step: note what was written after what, and follow it."""

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_weights, links, shares
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "one step of the links",
    arguments=("link B×N×N", "precedence B×N", "weights B×N", "at B×N", "content B×N", "modes B×3"),
    result=("link B×N×N", "precedence B×N", "at B×N"),
    difficulty=4,
    importance=3,
    minutes=30,
    partial=USUAL,
)


@task.property
def no_position_follows_itself(case, value):
    """The diagonal is 0."""
    if not (value[0].diagonal(dim1=1, dim2=2).abs() > 1e-5).any():
        return None
    return "No position is linked to itself, so the diagonal of the link is 0. Yours has a different number there."


def _inputs(draw, B, N, dtype=torch.float32):
    link, written = links(draw, B, N, dtype), [shares(draw, B, N, dtype=dtype) for _ in range(2)]
    return link, *written, *(drawn_weights(draw, B, size, dtype) for size in (N, N, 3))


@task.cases
def _(draw):
    for B, N in ((1, 2), (2, 2), (1, 3), (2, 4), (3, 5)):
        yield Case(f"{count(B, 'row')}, {N} positions", _inputs(draw, B, N), N == 5)
    yield Case("2 rows, 7 positions", _inputs(draw, 2, 7), True)
    yield Case("as many rows as positions", _inputs(draw, 3, 3))
    link, precedence, weights, at, *others = _inputs(draw, 2, 3)
    marked = link + torch.diag_embed(shares(draw, 2, 3))
    yield Case("a link with numbers on its diagonal", (marked, precedence, weights, at, *others), True)
    yield Case("the first step", (0 * link, 0 * precedence, weights, 0 * at, *others), edge=True)
    yield Case("a step that writes nothing", (link, precedence, 0 * weights, at, *others), edge=True)
    yield Case("a single position", _inputs(draw, 2, 1), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, torch.float64), True, hazard=True)
