"""Task 13.adam_step: a step of Adam to fix, with two moving means and their bias correction."""

from operator import add, mul, sub, truediv

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "a step of Adam to fix",
    arguments=("parameter …×D", "gradient …×D", "m …×D", "v …×D", "step", "rate", "beta1", "beta2", "eps"),
    result=("parameter …×D", "m …×D", "v …×D"),
    difficulty=3,
    importance=4,
    minutes=20,
    partial=EDGE | SIDE_EFFECT,
)


def _inputs(draw, shape, step, beta1, beta2, eps, rate=0.25, size=1.0, dtype=torch.float32):
    parameter, gradient, m = (draw.numbers(*shape, dtype=dtype) for _ in range(3))
    v = (draw.numbers(*shape, dtype=dtype) / 2).square() + 0.125
    gradient = gradient + 0.25  # no number is 0, and none is the other's opposite
    return parameter, size * gradient, size * m / 2, size**2 * v, step, rate, beta1, beta2, eps


@task.property
def which_of_the_three_is_wrong_first(case, value):
    """m and v do not hang on the parameter, and the parameter hangs on both."""
    right = task.oracle_function(*case.args)
    wrong = [
        name
        for name, came, should in zip(("parameter", "m", "v"), value, right, strict=True)
        if came.shape == should.shape and not torch.allclose(came.double(), should.double(), rtol=1e-4, atol=1e-5)
    ]
    if wrong == ["parameter"]:
        return "The m and v that you return are correct, so look at how they are used: the bias correction, the square root, eps and the change to the parameter."
    if "m" in wrong and "v" in wrong:
        return "Look at m and v first: they are returned as moving averages of the gradient and its square, before the correction."
    for name, what in (("m", "the gradient"), ("v", "the squared gradient")):
        if name in wrong:
            return f"Look at {name} first, since the other average is correct: {name} is the moving average of {what}, before the correction."
    return None


@task.cases
def _(draw):
    for shape, step, beta1, beta2, eps in (
        ((2,), 1, 0.625, 0.75, 0.5),
        ((3,), 2, 0.5, 0.75, 0.5),
        ((2, 3), 3, 0.75, 0.875, 0.25),
        ((3, 2), 2, 0.25, 0.5, 0.125),
        ((2, 3, 5), 4, 0.625, 0.875, 0.375),
    ):
        name = (
            f"numbers of shape {'×'.join(map(str, shape))}, step {step}, β₁ = {beta1:g}, β₂ = {beta2:g}, eps = {eps:g}"
        )
        yield Case(name, _inputs(draw, shape, step, beta1, beta2, eps, int(draw.whole(1, 5)) / 8))
    parameter, gradient, m, v, *rest = _inputs(draw, (2, 3), 1, 0.75, 0.875, 0.125)
    yield Case("the first step, with m and v of zeros", (parameter, gradient, 0 * m, 0 * v, *rest))
    yield Case("small gradients", _inputs(draw, (2, 5), 3, 0.75, 0.875, 1 / 16, size=1 / 64))
    yield Case("as many rows as columns", _inputs(draw, (3, 3), 2, 0.75, 0.875, 0.25))
    yield Case("β₁ = 0.9, β₂ = 0.98, eps = 1e-9, as in the paper", _inputs(draw, (5, 7), 6, 0.9, 0.98, 1e-9), edge=True)
    yield Case("step 3,000", _inputs(draw, (2, 3), 3000, 0.9, 0.999, 1e-8), edge=True)
    yield Case("a single parameter", _inputs(draw, (), 2, 0.5, 0.75, 0.25), edge=True)
    parameter, gradient, m, v, *rest = _inputs(draw, (2, 3), 1, 0.9, 0.999, 1e-8)
    kept = torch.tensor([1.0, 0.0, 1.0])
    unused = (parameter, gradient * kept, 0 * m, 0 * v, *rest)
    yield Case("a parameter that has had no gradient so far", unused, edge=True)
    yield Case("β₁ = 0 and β₂ = 0", _inputs(draw, (2, 3), 2, 0.0, 0.0, 0.25), edge=True)
    yield Case("gradients near 10,000", _inputs(draw, (2, 3), 2, 0.75, 0.875, 0.25, size=1e4), hazard=True)
    yield Case("float64 numbers", _inputs(draw, (2, 3), 2, 0.75, 0.875, 0.25, dtype=torch.float64), hazard=True)


@task.steps
def _(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    new = []
    for name, before, beta, part in (("m", m, beta1, gradient), ("v", v, beta2, None)):
        if part is None:
            part = yield "the squared gradient", pow, gradient, 2
        kept = yield f"what stays of {name}", mul, beta, before
        share = yield f"the share of new {name}", sub, 1, beta
        added = yield f"what is added to {name}", mul, share, part
        moment = yield f"the new {name}", add, kept, added
        power = yield f"the power for {name}", pow, beta, step
        missing = yield f"the divisor of {name}", sub, 1, power
        corrected = yield f"the corrected {name}", truediv, moment, missing
        new += [moment, corrected]
    m, m_corrected, v, v_corrected = new
    root = yield "the root", torch.sqrt, v_corrected
    divisor = yield "the divisor of the step", add, root, eps
    direction = yield "the step without the rate", truediv, m_corrected, divisor
    change = yield "the change of the parameter", mul, rate, direction
    moved = yield "the new parameter", sub, parameter, change
    return moved, m, v
