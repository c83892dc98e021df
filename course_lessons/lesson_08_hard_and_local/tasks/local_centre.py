"""Task 08.local_centre: where in the source local attention looks."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "where to look",
    arguments=("state B×H", "weight A×H", "v A", "length B"),
    result="centre B",
    difficulty=2,
    importance=3,
    minutes=10,
    partial=USUAL,
)


@task.property
def centre_lies_in_the_sentence(case, value):
    """The sigmoid lies between 0 and 1."""
    length = case.args[-1]
    outside = (value < -1e-4) | (value > length + 1e-4)
    if not outside.any():
        return None
    row = int(outside.int().argmax())
    return f"σ lies between 0 and 1, so the centre lies between 0 and the length; in row {row} the length is {length[row]}, and your centre is {value[row]:.4g}."


def _inputs(draw, B, H, A):
    weight, v = draw.numbers(A, H) / 2 + 0.125, draw.numbers(A) + 0.25
    return draw.numbers(B, H) + 0.125, weight, v, draw.distinct(B, 2, max(20, B + 2))


@task.cases
def _(draw):
    for size in sizes(B=3, H=5, A=7):
        name = f"{count(size.B, 'sentence')}, widths H={size.H}, A={size.A}"
        yield Case(name, _inputs(draw, size.B, size.H, size.A), size.full)
    yield Case("11 sentences, widths H=3, A=2", _inputs(draw, 11, 3, 2))
    yield Case("H and A both 5", _inputs(draw, 2, 5, 5))
    yield Case("as many sentences as A", _inputs(draw, 3, 2, 3))
    yield Case("widths of 1", _inputs(draw, 1, 1, 1), True, edge=True)
    state, weight, v, _ = _inputs(draw, 3, 5, 7)
    yield Case("sentences of one word", (state, weight, v, torch.ones(3, dtype=torch.long)), True, edge=True)
    yield Case("lengths of type int32", (state, weight, v, torch.tensor([4, 9, 2], dtype=torch.int32)), hazard=True)
    # Every tanh is 1 or -1, so the scores are exact: 10,000, -10,000 and 0.
    far = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])[draw.distinct(3, 0, 3)]
    large = (far, 100 * torch.eye(2), torch.tensor([5e3, 5e3]), torch.tensor([4, 9, 6]))
    yield Case("very large scores, near ±10,000", large, True, hazard=True)
    yield Case("200 sentences", _inputs(draw, 200, 3, 5), True, edge=True)
