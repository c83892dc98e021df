"""Task 13.adam_step: one step of Adam, with two moving means and their bias correction."""

from operator import add, mul, sub, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.tasks.shares import EDGE, SIDE_EFFECT

ORDER = "Return the new parameter, then the new m, then the new v."
task = Task(
    "13.adam_step",
    "one step of Adam",
    arguments=("parameter …×D", "gradient …×D", "m …×D", "v …×D", "step", "rate", "beta1", "beta2", "eps"),
    result=("parameter …×D", "m …×D", "v …×D"),
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Adam keeps two moving means of each number's gradients: m of the gradients themselves, v of their squares. Both begin with zeros, so in the first steps they are too small; dividing by 1 - β^t puts that right, and only for the step that is taken now: what is kept are m and v as they are. The step goes against the corrected m, and is shorter where gradients are large.",
        (
            "Take the parameter [1], the gradient [4], m = [0] and v = [0] at step 1, with rate 0.5, β₁ = 0.5, β₂ = 0.75 and eps = 1. The new m is 0.5·0 + 0.5·4 = 2, the new v is 0.75·0 + 0.25·16 = 4. Corrected they are 2 / (1 - 0.5) = 4 and 4 / (1 - 0.75) = 16: the gradient and its square. The step is 0.5 · 4 / (√16 + 1) = 0.4, so the parameter becomes 0.6. "
            "At step 2, with the same m and v before it, you would divide by 1 - 0.25 and 1 - 0.5625."
        ),
        "m = beta1 times m, plus (1 - beta1) times the gradient; v = beta2 times v, plus (1 - beta2) times the square of the gradient. m_corrected = m divided by (1 - beta1 to the power of step); v_corrected likewise with beta2. From the parameter subtract rate times m_corrected, divided by (the root of v_corrected, plus eps). Return all three.",
    ),
    partial=EDGE | SIDE_EFFECT,
)


def _inputs(draw, shape, step, beta1, beta2, eps, rate=0.25, size=1.0, dtype=torch.float32):
    parameter, gradient, m = (draw.numbers(*shape, dtype=dtype) for _ in range(3))
    v = (draw.numbers(*shape, dtype=dtype) / 2).square() + 0.125
    gradient = gradient + 0.25  # no number is 0, and none is the other's opposite
    return parameter, size * gradient, size * m / 2, size**2 * v, step, rate, beta1, beta2, eps


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
    yield Case("a single number", _inputs(draw, (), 2, 0.5, 0.75, 0.25), edge=True)
    parameter, gradient, m, v, *rest = _inputs(draw, (2, 3), 1, 0.9, 0.999, 1e-8)
    kept = torch.tensor([1.0, 0.0, 1.0])
    unused = (parameter, gradient * kept, 0 * m, 0 * v, *rest)
    yield Case("a number without a gradient, so far", unused, edge=True)
    yield Case("β₁ = 0 and β₂ = 0", _inputs(draw, (2, 3), 2, 0.0, 0.0, 0.25), edge=True)
    yield Case("gradients near 10,000", _inputs(draw, (2, 3), 2, 0.75, 0.875, 0.25, size=1e4), hazard=True)
    yield Case("float64 numbers", _inputs(draw, (2, 3), 2, 0.75, 0.875, 0.25, dtype=torch.float64), edge=True)


@task.oracle
def _(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    moved = torch.nn.Parameter(parameter.clone())
    optimizer = torch.optim.Adam([moved], lr=rate, betas=(beta1, beta2), eps=eps)
    kept = {"step": torch.tensor(step - 1.0), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.state[moved] = kept
    moved.grad = gradient.clone()
    optimizer.step()
    return moved.detach(), kept["exp_avg"], kept["exp_avg_sq"]


@task.steps
def _(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    new = []
    for name, before, beta, part in (("m", m, beta1, gradient), ("v", v, beta2, None)):
        if part is None:
            part = yield "the squares of the gradient", pow, gradient, 2
        kept = yield f"what stays of {name}", mul, beta, before
        share = yield f"the share of what is new in {name}", sub, 1, beta
        added = yield f"what is added to {name}", mul, share, part
        moment = yield f"the new {name}", add, kept, added
        power = yield f"the power of beta for {name}", pow, beta, step
        missing = yield f"the divisor of {name}", sub, 1, power
        corrected = yield f"the corrected {name}", truediv, moment, missing
        new += [moment, corrected]
    m, m_corrected, v, v_corrected = new
    root = yield "the root of the corrected v", torch.sqrt, v_corrected
    divisor = yield "the root plus eps", add, root, eps
    direction = yield "the step before the learning rate", truediv, m_corrected, divisor
    change = yield "the change of the parameter", mul, rate, direction
    moved = yield "the new parameter", sub, parameter, change
    return moved, m, v


def _corrected(moment, beta, step):
    return moment / (1 - beta**step)


def _as_it_is(moment, beta, step):
    return moment


def _direction(m, v, eps, gradient):
    return m / (v.sqrt() + eps)


def _adam(
    of_m=lambda m, gradient, beta: beta * m + (1 - beta) * gradient,
    of_v=lambda v, gradient, beta: beta * v + (1 - beta) * gradient**2,
    correct_m=_corrected,
    correct_v=_corrected,
    used=lambda old, new: new,
    direction=_direction,
    move=lambda parameter, rate, direction: parameter - rate * direction,
    returned=lambda parameter, old, new, corrected: (parameter, *new),
):
    """Return a step of Adam that is right but for the parts that are given."""

    def adam_step(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
        new = of_m(m, gradient, beta1), of_v(v, gradient, beta2)
        moments = [used(*pair) for pair in zip((m, v), new, strict=True)]
        corrected = correct_m(moments[0], beta1, step), correct_v(moments[1], beta2, step)
        moved = move(parameter, rate, direction(*corrected, eps, gradient))
        return returned(moved, (m, v), new, corrected)

    return adam_step


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(_adam(**parts))


# The two means

_mistake(
    "squares_forgotten",
    "v is the mean of the gradients, not of their squares. A negative one has no root, so NaN may come out. Square the gradient for v.",
    of_v=lambda v, gradient, beta: beta * v + (1 - beta) * gradient,
)
_mistake(
    "magnitudes_for_squares",
    "v is the mean of the gradient's magnitudes. It should be the mean of its squares: their root is taken later.",
    of_v=lambda v, gradient, beta: beta * v + (1 - beta) * gradient.abs(),
)
_mistake(
    "squares_of_all_numbers",
    "One mean of squares serves for all numbers. Each number has its own: square the gradient number by number.",
    of_v=lambda v, gradient, beta: beta * v + (1 - beta) * gradient.square().mean(),
)
_mistake(
    "mean_squared",
    "For v you square the new part with its factor: ((1 - beta2) times the gradient) squared. Square the gradient alone, then multiply.",
    of_v=lambda v, gradient, beta: beta * v + ((1 - beta) * gradient) ** 2,
)
SHARES = "The old mean keeps the share beta, and what is new gets 1 - beta."
_mistake(
    "shares_exchanged",
    f"In m and in v the shares are exchanged. {SHARES}",
    of_m=lambda m, gradient, beta: (1 - beta) * m + beta * gradient,
    of_v=lambda v, gradient, beta: (1 - beta) * v + beta * gradient**2,
)
_mistake(
    "shares_of_m_exchanged",
    f"In m the shares are exchanged. {SHARES}",
    of_m=lambda m, gradient, beta: (1 - beta) * m + beta * gradient,
)
_mistake(
    "shares_of_v_exchanged",
    f"In v the shares are exchanged. {SHARES}",
    of_v=lambda v, gradient, beta: (1 - beta) * v + beta * gradient**2,
)
_mistake(
    "gradients_added_whole",
    f"The gradient is added to m, and its square to v, without the factor 1 - beta. {SHARES}",
    of_m=lambda m, gradient, beta: beta * m + gradient,
    of_v=lambda v, gradient, beta: beta * v + gradient**2,
)
_mistake(
    "gradient_added_whole_to_m",
    f"The gradient is added to m without the factor 1 - beta1, as in SGD with momentum. {SHARES}",
    of_m=lambda m, gradient, beta: beta * m + gradient,
)
_mistake(
    "square_added_whole_to_v",
    f"The square of the gradient is added to v without the factor 1 - beta2. {SHARES}",
    of_v=lambda v, gradient, beta: beta * v + gradient**2,
)
_mistake(
    "nothing_fades",
    f"The old m and v are kept whole, without the factors beta1 and beta2. {SHARES}",
    of_m=lambda m, gradient, beta: m + (1 - beta) * gradient,
    of_v=lambda v, gradient, beta: v + (1 - beta) * gradient**2,
)
_mistake(
    "sums_of_gradients",
    f"m is the sum of all gradients, and v that of their squares. {SHARES}",
    of_m=lambda m, gradient, beta: m + gradient,
    of_v=lambda v, gradient, beta: v + gradient**2,
)
_mistake(
    "larger_v_kept",
    "v never becomes smaller: where the new one is, you keep the old one. That is like AMSGrad, a variant. Here v is the moving mean alone.",
    of_v=lambda v, gradient, beta: torch.maximum(v, beta * v + (1 - beta) * gradient**2),
)
_mistake(
    "largest_gradients",
    "v is the larger one of beta2 times the old v and the gradient's magnitude. That is AdaMax, a variant. Here v is the moving mean of the squares.",
    of_v=lambda v, gradient, beta: torch.maximum(beta * v, gradient.abs()),
)


# The correction

_mistake(
    "no_correction",
    "The bias correction is missing: m and v began with zeros, so they are too small in the first steps. Divide them by 1 - beta1 and 1 - beta2, each beta to the power of step.",
    correct_m=_as_it_is,
    correct_v=_as_it_is,
)
_mistake(
    "v_not_corrected",
    "m is corrected, and v is not. Divide v by 1 minus beta2 to the power of step, before the root.",
    correct_v=_as_it_is,
)
_mistake(
    "m_not_corrected",
    "v is corrected, and m is not. Divide m by 1 minus beta1 to the power of step.",
    correct_m=_as_it_is,
)
POWER = "Divide by 1 - β^t, where t is the step, an exponent."
for _name, _sentence, _wrong in (
    (
        "correction_without_the_step",
        "You divide by 1 - beta, whatever the step, as if each step were the first.",
        lambda moment, beta, step: moment / (1 - beta),
    ),
    (
        "beta_times_step",
        "In the correction you multiply beta by the step.",
        lambda moment, beta, step: moment / (1 - beta * step),
    ),
    (
        "power_of_the_difference",
        "In the correction you raise 1 - beta to the power of the step. Only beta is raised.",
        lambda moment, beta, step: moment / (1 - beta) ** step,
    ),
    (
        "divided_by_the_power",
        "In the correction you divide by beta to the power of the step; the `1 -` is missing.",
        lambda moment, beta, step: moment / beta**step,
    ),
    (
        "correction_multiplied",
        "The correction multiplies, which makes m and v still smaller.",
        lambda moment, beta, step: moment * (1 - beta**step),
    ),
):
    _mistake(_name, f"{_sentence} {POWER}", correct_m=_wrong, correct_v=_wrong)
_mistake(
    "step_counted_from_zero",
    "In the correction you use step - 1. Here the first step has the number 1, and with 0 you divide by 1 - 1 = 0, which gives NaN. Use the step as it is.",
    correct_m=lambda moment, beta, step: moment / (1 - beta ** (step - 1)) if step > 1 else moment * torch.nan,
    correct_v=lambda moment, beta, step: moment / (1 - beta ** (step - 1)) if step > 1 else moment * torch.nan,
)
_mistake(
    "one_step_ahead",
    "In the correction you use step + 1. Here the first step has the number 1 already. Use the step as it is.",
    correct_m=lambda moment, beta, step: moment / (1 - beta ** (step + 1)),
    correct_v=lambda moment, beta, step: moment / (1 - beta ** (step + 1)),
)
_mistake(
    "corrected_behind_the_root",
    "v is corrected after its root is taken, by the whole divisor. Correct v first, then take the root.",
    correct_v=lambda moment, beta, step: moment / (1 - beta**step) ** 2,
)
_mistake(
    "corrected_ones_returned",
    "The m and v that you return are the corrected ones. They would be corrected anew at the next step: return m and v as they were before the correction.",
    returned=lambda parameter, old, new, corrected: (parameter, *corrected),
)


# The step

_mistake(
    "eps_inside",
    "You add eps below the root. It is added to the root: √v̂ + eps, so that eps itself is the smallest divisor.",
    direction=lambda m, v, eps, gradient: m / (v + eps).sqrt(),
)

_mistake(
    "eps_inside_without_correction",
    "Two things differ. The bias correction is missing: divide m and v by 1 - beta1 and 1 - beta2, each beta to the power of step. And you add eps below the root; it is added to the root.",
    correct_m=_as_it_is,
    correct_v=_as_it_is,
    direction=lambda m, v, eps, gradient: m / (v + eps).sqrt(),
)
_mistake(
    "eps_as_a_bound",
    "eps serves as the least value that the root may have. It is added to the root, however large that is.",
    direction=lambda m, v, eps, gradient: m / v.sqrt().clamp(min=eps),
)


@task.mistake(
    "You add eps to the root of v before v is corrected, so that the correction scales eps too. (The paper mentions this as a shorter way, with another eps.) Correct v first, take the root, then add eps."
)
def eps_before_the_correction(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2
    factor = (1 - beta2**step) ** 0.5 / (1 - beta1**step)
    return parameter - rate * factor * m / (v.sqrt() + eps), m, v


_mistake(
    "eps_forgotten",
    "eps is missing. It is added to the root, and keeps a number that has had no gradient from being 0/0, which is NaN.",
    direction=lambda m, v, eps, gradient: m / v.sqrt(),
)
_mistake(
    "eps_fixed",
    "You take 1e-8 for eps in any case. It is the last argument.",
    direction=lambda m, v, eps, gradient: m / (v.sqrt() + 1e-8),
)
_mistake(
    "eps_added_to_the_quotient",
    "You add eps to the quotient. It belongs to the divisor, the root of the corrected v: a pair of brackets is missing.",
    direction=lambda m, v, eps, gradient: m / v.sqrt() + eps,
)
_mistake(
    "root_forgotten",
    "You divide by the corrected v. Divide by its root, plus eps.",
    direction=lambda m, v, eps, gradient: m / (v + eps),
)
_mistake(
    "not_divided",
    "The step is the rate times the corrected m, as in SGD with momentum. It is also divided by the root of the corrected v, plus eps.",
    direction=lambda m, v, eps, gradient: m,
)
_mistake(
    "times_the_root",
    "You multiply by the root of the corrected v, plus eps. Divide by it: where gradients are large, steps should be shorter.",
    direction=lambda m, v, eps, gradient: m * (v.sqrt() + eps),
)
_mistake(
    "gradient_for_m",
    "The step goes against the gradient of this step alone, as in RMSprop. It should go against the corrected m.",
    direction=lambda m, v, eps, gradient: gradient / (v.sqrt() + eps),
)
_mistake(
    "old_means_used",
    "The step is computed from the m and v that came in. It should be computed from the new ones, which hold the gradient of this step.",
    used=lambda old, new: old,
)
_mistake(
    "uphill",
    "You add the step to the parameter, so that the loss would grow. Subtract it.",
    move=lambda parameter, rate, direction: parameter + rate * direction,
)
_mistake(
    "rate_forgotten",
    "The rate has no effect: the step is multiplied by it.",
    move=lambda parameter, rate, direction: parameter - direction,
)
_mistake(
    "parameter_scaled",
    "The parameter itself shrinks as well, by the share `rate`: that would be a weight decay, and none is asked for here.",
    move=lambda parameter, rate, direction: (1 - rate) * parameter - rate * direction,
)
_mistake(
    "step_alone",
    "You return the change of the parameter. Return the new parameter: the old one minus the change.",
    move=lambda parameter, rate, direction: rate * direction,
)
_mistake(
    "step_alone_with_its_sign",
    "You return the change of the parameter, with its minus sign. Return the new parameter: the old one plus that.",
    move=lambda parameter, rate, direction: -rate * direction,
)


# What is returned

_mistake(
    "old_means_returned",
    f"The m and v that you return are those that came in, so the next step would have forgotten this one. {ORDER}",
    returned=lambda parameter, old, new, corrected: (parameter, *old),
)
_mistake(
    "v_before_m",
    f"You return v before m. {ORDER}",
    returned=lambda parameter, old, new, corrected: (parameter, *new[::-1]),
)
_mistake(
    "parameter_last",
    f"The parameter comes last. {ORDER}",
    returned=lambda parameter, old, new, corrected: (*new, parameter),
)
_mistake(
    "parameter_alone",
    f"You return the parameter alone, and the next step needs m and v as well. {ORDER}",
    returned=lambda parameter, old, new, corrected: parameter,
)

# The betas


@task.mistake("beta1 and beta2 are exchanged: beta1 belongs to m, beta2 to v.")
def betas_exchanged(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    return _adam()(parameter, gradient, m, v, step, rate, beta2, beta1, eps)


@task.mistake("beta1 is used for both m and v. beta2 belongs to v.")
def beta1_for_both(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    return _adam()(parameter, gradient, m, v, step, rate, beta1, beta1, eps)


@task.mistake("beta2 is used for both m and v. beta1 belongs to m.")
def beta2_for_both(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    return _adam()(parameter, gradient, m, v, step, rate, beta2, beta2, eps)


@task.mistake(
    "In the correction beta1 and beta2 are exchanged: m is divided by 1 minus a power of beta1, v by 1 minus a power of beta2."
)
def betas_of_the_correction_exchanged(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    step_taken = _adam(
        correct_m=lambda moment, beta, step: _corrected(moment, beta2, step),
        correct_v=lambda moment, beta, step: _corrected(moment, beta1, step),
    )
    return step_taken(parameter, gradient, m, v, step, rate, beta1, beta2, eps)
