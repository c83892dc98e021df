"""Task 12.layer_norm: each vector shifted to mean 0 and scaled to variance 1, then given a gain and a bias."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "each vector with mean 0 and variance 1",
    arguments=("x …×D", "gain D", "bias D", "eps"),
    result="y …×D",
    difficulty=2,
    importance=4,
    minutes=15,
    partial=USUAL,
)


@task.property
def the_bias_is_the_centre(case, value):
    """Without gain and bias, the numbers of each vector add up to 0."""
    _, gain, bias, _ = case.args
    if (gain.abs() < 0.1).any():
        return None
    sums = ((value - bias) / gain).double().sum(-1)
    worst = sums.abs().max().item()
    if worst > 1e-2:
        return f"Subtract the bias from each vector and divide by the gain: its entries should add up to 0, but one of yours adds up to {worst:.4g}."
    return None


def _inputs(draw, shape, eps, dtype=torch.float32):
    D = shape[-1]
    x = draw.numbers(*shape, dtype=dtype) * 1.5
    x = x + torch.arange(D) / 4 + draw.whole(1, 4, 1).to(dtype)  # a mean away from 0, no vector of equal numbers
    gain = (draw.whole(1, 5, D) * (1 - 2 * draw.whole(0, 2, D))).to(dtype) / 2
    return x, gain, draw.whole(-4, 5, D).to(dtype) / 2 + 0.25, eps


@task.cases
def _(draw):
    yield Case("one sentence of 2 words of width 3", _inputs(draw, (1, 2, 3), 1e-5))
    yield Case("the same with eps = 0.5", _inputs(draw, (1, 2, 3), 0.5))
    for shape in ((2, 2, 3), (1, 3, 4), (1, 4, 3), (2, 5, 7)):
        eps = float(draw.whole(1, 8, 1)) / 8
        name = f"sentences, words and width: {', '.join(map(str, shape))}, with eps = {eps:g}"
        yield Case(name, _inputs(draw, shape, eps), shape == (2, 5, 7))
    yield Case("eps = 1e-5, as PyTorch has it", _inputs(draw, (2, 3, 5), 1e-5), True)
    yield Case("as many sentences and words as the width", _inputs(draw, (3, 3, 3), 0.125))
    yield Case("words without sentences, T×D", _inputs(draw, (3, 5), 0.125), edge=True)
    yield Case("a single vector", _inputs(draw, (5,), 0.125), True, edge=True)
    yield Case("with an axis for heads, B×H×T×D", _inputs(draw, (2, 3, 4, 5), 0.125), edge=True)
    x, *rest = _inputs(draw, (2, 3, 5), 0.125)
    x[1, 1] = 2.0
    yield Case("a vector whose entries are all equal", (x, *rest), True, edge=True)
    x, gain, bias, _ = _inputs(draw, (2, 3, 5), 1e-5)
    yield Case("vectors whose entries differ little", (x / 128, gain, bias, 1e-5), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, (2, 3, 5), 0.125, torch.float64), True, hazard=True)
    x, gain, bias, _ = _inputs(draw, (2, 3, 5), 1e-5)
    yield Case("numbers spread over ±10,000", (10_000 * (x - 3), gain, bias, 1e-5), True, hazard=True)
    x, gain, bias, _ = _inputs(draw, (2, 3, 5), 1e-5)
    yield Case("numbers near 8192 that differ by about 1", ((x * 4).round() / 4 + 8192, gain, bias, 1e-5), hazard=True)
