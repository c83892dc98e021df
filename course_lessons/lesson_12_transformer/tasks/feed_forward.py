"""Task 12.feed_forward: two layers with a ReLU between them, for each word by itself."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "two layers applied to each word separately",
    arguments=("x B×T×D", "weight_1 F×D", "bias_1 F", "weight_2 D×F", "bias_2 D"),
    result="y B×T×D",
    difficulty=1,
    importance=4,
    minutes=10,
)


def _inputs(draw, B, T, D, F, dtype=torch.float32):
    x, weight_1, weight_2 = (draw.numbers(*shape, dtype=dtype) for shape in ((B, T, D), (F, D), (D, F)))
    weight_1, weight_2 = weight_1 + 0.25 * (weight_1 == 0), weight_2 + 0.25 * (weight_2 == 0)
    # Products of halves and quarters are multiples of an eighth: with a sixteenth no unit is at exactly 0.
    bias_1 = draw.whole(-4, 5, F).to(dtype) / 4 + 0.0625
    return x, weight_1, bias_1, weight_2, draw.whole(-4, 5, D).to(dtype) / 2 + 0.25


AT_0 = "every unit at 0 after the ReLU"


@task.property
def the_second_bias_is_left_where_all_units_are_0(case, value):
    """The ReLU gives zeros there, and the second layer adds its bias to nothing."""
    bias = case.args[4]
    if (
        case.name != AT_0
        or value.shape != case.args[0].shape
        or torch.allclose(value, bias.expand_as(value), atol=1e-4)
    ):
        return None
    return "All units are 0 after the ReLU there, so the result should be bias_2 for every word."


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, D=5, F=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, width {size.D}, {size.F} units between"
        yield Case(name, _inputs(draw, size.B, size.T, size.D, size.F), size.full)
    yield Case("as wide between as outside", _inputs(draw, 2, 3, 4, 4))
    yield Case("as many words as the width", _inputs(draw, 2, 5, 5, 3))
    x, weight_1, bias_1, *rest = _inputs(draw, 2, 3, 3, 5)
    yield Case(AT_0, (x, weight_1, bias_1 - 100, *rest), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 3, 5, 7, torch.float64), True, hazard=True)
    x, *rest = _inputs(draw, 2, 3, 5, 7)
    yield Case("numbers near 10,000", (10_000 * x, *rest), True, hazard=True)
    yield Case("200 words", _inputs(draw, 1, 200, 3, 5), edge=True)
