"""Task 19.two_blocks: a dense block and an attention block with three faults, to be repaired (Mishra et al. 2018, section 3.1)."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "a SNAIL that sees what it should predict",
    arguments=(
        "x B×T×D",
        "weight_f F×D×2",
        "weight_g F×D×2",
        "dilation",
        "weight_q (D+F)×K",
        "weight_k (D+F)×K",
        "weight_v (D+F)×E",
    ),
    result="y B×T×(D+F+E)",
    difficulty=3,
    importance=5,
    minutes=20,
    partial=USUAL,
)


def _inputs(draw, B, T, D, F, K, E, dilation, dtype=torch.float32):
    def drawn(*shape):
        return draw.numbers(*shape, dtype=dtype) + 0.125

    f, g = drawn(F, D, 2), drawn(F, D, 2)
    return drawn(B, T, D), f, g, dilation, *(drawn(D + F, width) / D**0.5 for width in (K, K, E))


@task.property
def the_first_part_that_is_wrong(case, value):
    """A step of the result holds x, then the new features, then what was read, which is made of both."""
    x, weight_f, *_ = case.args
    right, (D, F) = task.oracle_function(*case.args), (x.shape[2], len(weight_f))
    if value.shape != right.shape or not value.isfinite().all():
        return None
    off = (value.double() - right.double()).abs() > 1e-4 * (1 + right.abs())
    if off[..., :D].any():
        return "Each step of the result contains x unchanged, then the new features, then the context. Your result does not start with x."
    if off[..., D : D + F].any():
        t = int(off[..., D : D + F].any(-1).any(0).nonzero()[0])
        return f"The new features, entries {D} to {D + F - 1} of a step, are wrong from step {t} on: look at the convolutions, their padding, and at tanh and sigmoid."
    return (
        "x and the new features are correct, but the context is not: look at the attention, its mask and its softmax."
    )


@task.cases
def _(draw):
    for size, dilation in zip(sizes(B=2, T=11, D=3, F=5, K=7, E=13), (1, 1, 2, 1, 2, 1, 2, 3), strict=True):
        B, T = size.B, size.T if size.full else size.T + 3
        name = f"{'1 sequence' if B == 1 else f'{B} sequences'} of {T} steps, D = {size.D}, F = {size.F}, K = {size.K}, E = {size.E}, dilation {dilation}"
        yield Case(name, _inputs(draw, B, T, size.D, size.F, size.K, size.E, dilation), size.full)
    yield Case("a dilation of 4", _inputs(draw, 3, 7, 2, 3, 2, 5, 4), True)
    yield Case("all sizes 3", _inputs(draw, 3, 3, 3, 3, 3, 3, 1))
    yield Case("a single step, one feature", _inputs(draw, 1, 1, 1, 1, 1, 1, 1), True, edge=True)
    yield Case("a dilation larger than the number of steps", _inputs(draw, 2, 3, 2, 3, 2, 2, 8), True, edge=True)
    x, f, g, dilation, *_, value = _inputs(draw, 2, 5, 1, 2, 1, 3, 1)
    rising, large = torch.arange(1, 6).expand(2, 5)[..., None] + torch.zeros_like(x), torch.tensor([[10.0], [0], [0]])
    yield Case("later steps with far larger scores", (rising, f, g, dilation, large, large, value), edge=True)
    yield Case("200 steps, dilation 64", _inputs(draw, 1, 200, 2, 2, 3, 2, 64), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 5, 3, 2, 3, 5, 2, torch.float64), True, hazard=True)
