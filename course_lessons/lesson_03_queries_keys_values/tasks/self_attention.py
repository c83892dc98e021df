"""Task 03.self_attention: one sentence asks, answers and is summed, by three learned projections."""

import torch

from course_lessons.shared.partial_credit import EDGE
from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "self-attention with learned projections",
    arguments=("x B×T×D", "weight_q D×A", "weight_k D×A", "weight_v D×E", "mask B×T×T"),
    result=("context B×T×E", "weights B×T×T"),
    difficulty=2,
    importance=5,
    minutes=15,
    offers=("models.attention.attention",),
    partial=EDGE
    | {
        "empty_row_nan": (0.5, "right for every word that may attend to something."),
        "empty_row_uniform": (0.5, "right for every word that may attend to something."),
    },
)

task.property(rows_sum_to_one)
task.property(no_weight_is_negative)


def _inputs(draw, B, T, D, A, E):
    return tuple(draw.numbers(*shape) for shape in ((B, T, D), (D, A), (D, A), (D, E)))


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=7, A=3, E=11):
        B, T = size.B, size.T
        inputs = _inputs(draw, B, T, size.D, size.A, size.E)
        name = f"B={B}, T={T}, D={size.D}, A={size.A}, E={size.E}"
        yield Case(f"{name}, no mask", (*inputs, None), size.full)
        yield Case(f"{name}, with a mask", (*inputs, draw.mask(B, T, T)), size.full)
    # Not an edge: elsewhere a projection that is left out, or transposed, only raises.
    yield Case("D, A and E all 3", (*_inputs(draw, 2, 5, 3, 3, 3), draw.mask(2, 5, 5)))
    causal = torch.ones(5, 5).tril().bool().repeat(2, 1, 1)
    yield Case("a causal mask", (*_inputs(draw, 2, 5, 7, 3, 4), causal))
    empty = draw.mask(2, 5, 5)
    empty[1, 2] = False
    with_an_empty_row = (*_inputs(draw, 2, 5, 7, 3, 11), empty)
    yield Case("a word that may attend to nothing", with_an_empty_row, edge=True)
    yield Case("a single word, widths of 1, called without a mask", _inputs(draw, 2, 1, 1, 1, 1), edge=True)
    yield Case("as many words as sentences", (*_inputs(draw, 3, 3, 3, 3, 3), draw.mask(3, 3, 3)), True, edge=True)
    x, *weights = _inputs(draw, 2, 3, 2, 2, 2)
    yield Case("scores in the hundreds", (10 * x + 1, *weights, None), edge=True)
    yield Case("a gradient, with a word that may attend to nothing", with_an_empty_row, True, hazard=True)
