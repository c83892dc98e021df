"""Task 15.first_look: what a captioner reads before its first word, repaired; the mistakes are the bugs of the version in the prompt."""

from itertools import combinations

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "the look before the first word",
    arguments=("annotations B×L×E", "weights"),
    result="gated B×E",
    difficulty=3,
    importance=4,
    minutes=20,
    partial=USUAL,
)


@task.property
def a_gate_takes_away(case, value):
    """The context is a mean of the annotations, and σ lies between 0 and 1."""
    most = case.args[0].abs().amax(1)  # B E
    outside = value.abs() > most + 1e-3
    if not outside.any():
        return None
    row, feature = divmod(int(outside.int().argmax()), most.shape[1])
    return f"Apart from its sign, a weighted mean times a gate is never larger than the largest of the numbers that are averaged. Without signs, feature {feature} of row {row} is at most {most[row, feature]:.4g} in the annotations, and {abs(value[row, feature]):.4g} in your result."


def _inputs(draw, B, L, E, H, A, dtype=torch.float32):
    shapes = {"first": (H, E), "query": (A, H), "key": (A, E), "v": (A,), "gate": (H,)}
    weights = {name: draw.numbers(*shape, dtype=dtype) / 2 + 0.125 for name, shape in shapes.items()}
    return draw.numbers(B, L, E, dtype=dtype) + 0.25, weights


@task.cases
def _(draw):
    for size in sizes(B=3, L=5, E=7, H=4, A=6):
        name = f"{count(size.B, 'picture')} of {count(size.L, 'cell')}, widths E={size.E}, H={size.H}, A={size.A}"
        yield Case(name, _inputs(draw, *(getattr(size, letter) for letter in "BLEHA")), size.full)
    yield Case("as many pictures as cells", _inputs(draw, 3, 3, 5, 2, 4))
    yield Case("all widths 5", _inputs(draw, 2, 3, 5, 5, 5))
    yield Case("7 pictures of 2 cells", _inputs(draw, 7, 2, 3, 5, 4), True)
    yield Case("2 pictures of a single cell", _inputs(draw, 2, 1, 3, 5, 4), True, edge=True)
    yield Case("196 cells", _inputs(draw, 2, 196, 3, 5, 4), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, 2, 4, torch.float64), True, hazard=True)


FAULTS = ("summed", "half_a_tanh", "softmax_over_the_batch", "gate_by_tanh")  # of the version in the prompt
LEFT = (
    "Two of the four bugs are left.",
    "Three of the four bugs are left.",
    "This is the version in the prompt, with all four bugs.",
)
for number, left in enumerate(LEFT, 2):
    for names in combinations(FAULTS, number):
        sections = [task.sections[name] for name in names]
        changes = [change for section in sections for change in section.changes]
        what_to_do = [section.paragraphs[1] for section in sections]
        task.mistakes.append(task.written("_and_".join(names), " ".join([left, *what_to_do]), changes))
