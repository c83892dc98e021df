"""Task 13.adam_step: a step of Adam to fix, with two moving means and their bias correction."""

from operator import add, mul, sub, truediv

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

ORDER = "Return the new parameter, then the new m, then the new v."
task = Task(
    "13.adam_step",
    "a step of Adam to fix",
    arguments=("parameter …×D", "gradient …×D", "m …×D", "v …×D", "step", "rate", "beta1", "beta2", "eps"),
    result=("parameter …×D", "m …×D", "v …×D"),
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Try the version from the prompt with a single parameter: a gradient of 4 at steps 1 and 2, a large eps and, at step 2, the m and v that step 1 returned. Then ask: if all gradients are the same, by how much are m and v too small after t steps? For which step is the bias correction valid, and what does the next call need? And what is the divisor if the corrected v is 16?",
        (
            "Take the parameter [1], the gradient [4], m = [0] and v = [0] at step 1, with a rate of 0.5, β₁ = 0.5, β₂ = 0.75 and eps = 1. The new m is 0.5·0 + 0.5·4 = 2, and the new v is 0.75·0 + 0.25·16 = 4. Corrected, they are 2 / (1 - 0.5) = 4 and 4 / (1 - 0.75) = 16: the gradient and its square. The step is 0.5 · 4 / (√16 + 1) = 0.4, so the parameter becomes 0.6. "
            "At step 2, starting from the same m and v, you would divide by 1 - 0.25 and 1 - 0.5625."
        ),
        "m = beta1 times m, plus (1 - beta1) times the gradient; v = beta2 times v, plus (1 - beta2) times the square of the gradient. m_corrected = m divided by (1 - beta1 to the power of step); v_corrected likewise with beta2. From the parameter, subtract rate times m_corrected, divided by (the square root of v_corrected, plus eps). Return all three.",
    ),
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


def each(step, change, names="mv"):
    """The same change of a step for m and for v, or for one of the two."""
    return {step.format(name): change for name in names}


# The two moving means

SHARES = "The old average is weighted by beta, and the new value by 1 - beta."
task.changed(
    "squares_forgotten",
    "Your v is the mean of the gradients, not of their squares. A negative mean has no square root, so the result may be NaN. Square the gradient for v.",
    {"the squared gradient": left_out},
)
STAYS, SHARE = "what stays of {}", "the share of new {}"
task.changed(
    "shares_exchanged",
    f"In both m and v, the two factors are swapped. {SHARES}",
    each(STAYS, lambda beta, old: (1 - beta) * old) | each(SHARE, lambda one, beta: beta),
)
task.changed(
    "gradient_added_whole_to_m",
    f"The gradient is added to m without the factor 1 - beta1, as in SGD with momentum. {SHARES}",
    each(SHARE, lambda one, beta: one, "m"),
)


NEW_V = "the new v"
task.changed_each(
    ("squares_added_whole_to_v", f"The squares are added to v without the factor 1 - beta2. {SHARES}", each(SHARE, lambda one, beta: one, "v")),
    ("squares_added_up", "Your v is the sum of all squares so far, as in AdaGrad. In Adam it is a moving average: the old v is weighted by beta2, and the squares by 1 - beta2.", {NEW_V: lambda kept, added, *, v, gradient: v + gradient**2}),
    ("squares_of_m", "You square the new m for v. v is the moving average of the squared gradient.", {"the squared gradient": lambda gradient, power, *, done: done["the new m"] ** power}),
    ("squares_of_the_deviation", "You square the gradient minus m, as for a variance. v is the moving average of the squared gradient itself.", {"the squared gradient": lambda gradient, power, *, done: (gradient - done["the new m"]) ** power}),
    ("largest_v", "Your v never falls: you keep the larger of the old and the new v, as AMSGrad does, but only for the step. Return and use the moving average.", {NEW_V: lambda kept, added, *, v: torch.maximum(v, kept + added)}),
    ("v_with_beta1", "The factors of v use beta1: the old v is weighted by beta2, and the squares by 1 - beta2.", {"what stays of v": lambda beta, old, *, beta1: beta1 * old, "the share of new v": lambda one, beta, *, beta1: one - beta1}),
    ("beta1_for_both", "v is computed and corrected with beta1. beta1 belongs to m, beta2 to v.", {"beta2": lambda beta2, *, beta1: beta1}),
)  # fmt: skip


# The correction

CORRECTED = "the corrected {}"
task.changed_each(
    ("no_correction", "The bias correction is missing: m and v started at zero, so they are too small in the first steps. Divide them by 1 - beta1 and 1 - beta2, with each beta raised to the power of step.", each(CORRECTED, left_out)),
    ("m_not_corrected", "You correct v but not m, which also started at zero: divide it by 1 - beta1, with beta1 raised to the power of step.", each(CORRECTED, left_out, "m")),
    ("v_not_corrected", "You correct m but not v, which also started at zero: divide it by 1 - beta2, with beta2 raised to the power of step.", each(CORRECTED, left_out, "v")),
    ("beta_times_step", "In the correction, you multiply beta by the step. The step is an exponent: 1 - β^t, in Python `beta**step`.", each("the power for {}", lambda beta, step: beta * step)),
    ("power_of_the_difference", "You raise 1 - beta to the power of the step. Raise beta to that power and subtract the result from 1: 1 - β^t, in Python `1 - beta**step`.", {"the divisor of m": lambda one, power, *, beta1, step: (one - beta1) ** step, "the divisor of v": lambda one, power, *, beta2, step: (one - beta2) ** step}),
    ("multiplied_by_the_correction", "You multiply m and v by 1 - β^t, which makes them even smaller. Divide by it instead.", each(CORRECTED, lambda moment, divisor: moment * divisor)),
    ("v_corrected_with_beta1", "You correct v with beta1. beta1 belongs to m, beta2 to v.", {"the corrected v": lambda moment, divisor, *, done: moment / done["the divisor of m"]}),
    ("correction_without_the_step", "You divide by 1 - beta at every step, as if each were the first. Divide by 1 - β^t, where t is the step, an exponent.", each("the power for {}", left_out)),
    ("step_counted_from_zero", "In the correction, you use step - 1. Here the first step is number 1, and with 0 you divide by 1 - 1 = 0, which gives NaN. Use the step as it is.", {"step": lambda step: step - 1}),
    ("corrected_behind_the_root", "You take the square root of v and then divide it by the whole correction. Correct v first, then take the root.", {"the corrected v": lambda v, divisor: v / divisor**2}),
)  # fmt: skip


# The step

ROOT, SUM, DIRECTION = "the root", "the divisor of the step", "the step without the rate"
NEW = "the new parameter"
EPS_INSIDE = {ROOT: left_out, SUM: lambda v, eps: (v + eps).sqrt()}
task.changed(
    "eps_inside",
    "You add eps under the square root. It should be added to the root: √v̂ + eps, so that eps itself is the smallest divisor.",
    EPS_INSIDE,
)
task.changed(
    "eps_before_the_correction",
    "You add eps to the root of v before v is corrected, so that the correction scales eps too. (The paper mentions this as a shortcut, with a different eps.) Correct v first, take the root, then add eps.",
    {"the corrected v": left_out, SUM: lambda root, eps, *, done: (root + eps) / done["the divisor of v"] ** 0.5},
)
task.changed(
    "eps_added_to_the_quotient",
    "You add eps to the quotient. It belongs in the divisor, after the root of the corrected v: a pair of brackets is missing.",
    {SUM: left_out, DIRECTION: lambda m, root, *, eps: m / root + eps},
)
task.changed_each(
    ("eps_as_a_bound", "You use eps as a lower bound for the root. It should be added to the root, however large the root is.", {SUM: torch.clamp}),
    ("eps_forgotten", "eps is missing. Adding it to the root prevents 0/0, or NaN, for a parameter that has had no gradient.", {SUM: left_out}),
    ("root_forgotten", "You divide by the corrected v. Divide by its root, plus eps.", {ROOT: left_out}),
    ("rate_forgotten", "The rate has no effect: multiply the step by the rate before you subtract it.", {"the change of the parameter": lambda rate, direction: direction}),
    ("one_root_for_all", "You divide all entries by the same number, the norm of the corrected v. In Adam, each entry has its own root.", {ROOT: lambda v: v.norm().expand_as(v)}),
    ("uphill", "You add the step to the parameter, which would increase the loss. Subtract it.", {NEW: add}),
    ("step_alone", "You return the change of the parameter. Return the new parameter: the old one minus the change.", {NEW: lambda parameter, change: change}),
)  # fmt: skip
task.changed(
    "gradient_for_m",
    "The step is the gradient divided by the root of v. What Adam divides is the corrected m, the moving average of the gradients.",
    {"the corrected m": lambda moment, divisor, *, gradient: gradient},
)
task.changed(
    "old_means_used",
    "You compute the step from the old m and v. Compute it from the new ones, which contain the gradient of this step.",
    {
        "the corrected m": lambda new, divisor, *, m: m / divisor,
        "the corrected v": lambda new, divisor, *, v: v / divisor,
    },
)


# What is returned

RETURNS_CORRECTED = {
    "result": lambda parameter, m, v, *, done: (parameter, done["the corrected m"], done["the corrected v"])
}
task.changed(
    "corrected_ones_returned",
    "The m and v that you return are the corrected ones. They would be corrected again at the next step: return m and v as they were before the correction.",
    RETURNS_CORRECTED,
)
for name in "mv":
    task.changed(
        f"corrected_{name}_returned",
        f"The {name} that you return is the corrected one. It would be corrected again at the next step: return {name} as it was before the correction.",
        {
            "result": lambda parameter, m, v, *, done, name=name: (
                parameter,
                *(done[f"the corrected {each}"] if each == name else mean for each, mean in (("m", m), ("v", v))),
            )
        },
    )
task.changed(
    "old_means_returned",
    f"You return the old m and v, so the next step would not use this gradient. {ORDER}",
    {"result": lambda parameter, new_m, new_v, *, m, v: (parameter, m, v)},
)
task.changed_each(
    ("v_before_m", f"You return v before m. {ORDER}", {"result": lambda parameter, m, v: (parameter, v, m)}),
    ("parameter_last", f"You return the parameter last. {ORDER}", {"result": lambda parameter, m, v: (m, v, parameter)}),
    ("parameter_alone", f"You return only the parameter, but the next step also needs m and v. {ORDER}", {"result": lambda parameter, m, v: parameter}),
)  # fmt: skip


# The betas

task.changed(
    "betas_exchanged",
    "beta1 and beta2 are swapped: beta1 belongs to m, beta2 to v.",
    {"beta1": lambda beta1, *, beta2: beta2, "beta2": lambda beta2, *, beta1: beta1},
)


# The version in the prompt, with all three of its faults or with two

ALWAYS_THE_FIRST = each("the power for {}", left_out)
task.changed_each(
    ("as_given", "This is still the version from the prompt, with all of its bugs. Call it twice with the same gradient and a large eps, the second time with the m and v that it returned, and compare both steps with promise 2.", ALWAYS_THE_FIRST | EPS_INSIDE | RETURNS_CORRECTED),
    ("two_faults_after_what_is_returned", "The m and v that you return are correct. The step itself still has two bugs: compare a third step, and a step with a large eps, with promise 2.", ALWAYS_THE_FIRST | EPS_INSIDE),
    ("two_faults_after_eps", "eps is in the right place. Two bugs are left: look at how m and v are corrected at a later step and at what is passed to the next call.", ALWAYS_THE_FIRST | RETURNS_CORRECTED),
    ("two_faults_after_the_correction", "The correction is right at each step. Two bugs are left: try a large eps, and look at what is passed to the next call.", EPS_INSIDE | RETURNS_CORRECTED),
)  # fmt: skip
