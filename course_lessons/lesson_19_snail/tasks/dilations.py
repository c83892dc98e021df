"""Task 19.dilations: how far each layer looks back, so that all together see a whole sequence, whatever the kernel."""

import math

from course_lessons.shared.partial_credit import EDGE
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "as few layers as it takes",
    arguments=("steps", "kernel"),
    result="dilations",
    difficulty=3,
    importance=4,
    minutes=15,
    partial=EDGE,
)


def _whole(value):
    return isinstance(value, (list, tuple)) and all(type(dilation) is int for dilation in value)


def _seen(dilations, kernel, steps):
    """Which distances back the last step sees, up to steps - 1."""
    seen = {0}
    for dilation in dilations:
        seen |= {far + i * dilation for far in seen for i in range(1, kernel) if 0 <= far + i * dilation < steps}
    return seen


@task.property
def no_step_is_left_out(case, value):
    """The last step sees every step before it."""
    steps, kernel = case.args
    if not _whole(value) or steps > 2000 or len(value) > 20:
        return None
    missing = set(range(steps)) - _seen(value, kernel, steps)
    if not missing:
        return None
    return f"With a kernel of {kernel} and your dilations, the last of {steps} steps sees {steps - len(missing)} of them. It misses the step that is {count(min(missing), 'step')} back."


@task.property
def no_layer_too_many(case, value):
    """As few layers as it takes."""
    steps, kernel = case.args
    fewest = len(task.oracle_function(steps, kernel))
    if not _whole(value) or len(value) <= fewest:
        return None
    return f"For {count(steps, 'step')} and a kernel of {kernel} you have {count(len(value), 'layer')}. {fewest} would be enough."


@task.cases
def _(draw):
    for low, high, kernel in ((3, 8, 2), (5, 9, 3), (10, 27, 3), (17, 32, 2), (33, 64, 4), (65, 128, 3), (129, 600, 5)):
        steps = int(draw.whole(low, high))
        yield Case(f"{steps} steps, kernel {kernel}", (steps, kernel))
    for kernel, powers in ((2, (3, 9)), (3, (2, 5)), (4, (2, 5)), (int(draw.whole(5, 8)), (2, 3))):
        steps = kernel ** int(draw.whole(*powers))
        yield Case(f"{steps} steps, a power of the kernel, {kernel}", (steps, kernel))
        yield Case(f"{steps + 1} steps, one more than a power of the kernel, {kernel}", (steps + 1, kernel))
    yield Case("a single step", (1, 3), edge=True)
    yield Case("two steps", (2, 2), edge=True)
    yield Case("a kernel that is wider than the sequence", (5, 9), edge=True)
    yield Case("1,025 steps", (1025, 2), edge=True)
    for steps, kernel in ((125, 5), (243, 3), (244, 3), (512, 8)):  # where math.log, math.log2, and math.log10 are off
        yield Case(f"{steps} steps, kernel {kernel}, where logarithms are rounded", (steps, kernel), edge=True)


@task.oracle
def _(steps, kernel):
    return [kernel**i for i in range(20) if kernel**i < steps]


def _layers(steps, kernel):
    return sum(kernel**i < steps for i in range(20))


def _layers_of_doubled(steps, kernel):
    """How many layers see all steps if the dilations are 1, 2, 4, …"""
    return next(n for n in range(20) if 1 + (kernel - 1) * (2**n - 1) >= steps)


def _mistake(name, dilation=lambda i, kernel: kernel**i, layers=_layers):
    """Register dilations of which a part is wrong: dilation(i, kernel), or the number of layers."""
    task.mistake(name)(lambda steps, kernel: [dilation(i, kernel) for i in range(layers(steps, kernel))])


@task.mistake()
def last_one_cut(steps, kernel):
    dilations = task.oracle_function(steps, kernel)
    left = steps - 1 - (kernel - 1) * sum(dilations[:-1])
    return [*dilations[:-1], math.ceil(left / (kernel - 1))] if dilations else []


# How far

_mistake("doubled", dilation=lambda i, kernel: 2**i, layers=lambda steps, kernel: _layers(steps, 2))
_mistake("doubled_too_few", dilation=lambda i, kernel: 2**i)
_mistake("doubled_until_all_is_seen", dilation=lambda i, kernel: 2**i, layers=_layers_of_doubled)
_mistake("begins_at_the_kernel", dilation=lambda i, kernel: kernel ** (i + 1))
_mistake("reach_in_place_of_steps", dilation=lambda i, kernel: max(1, kernel**i - 1))

# How many

_mistake("rounded_down", layers=lambda steps, kernel: sum(kernel**i <= steps for i in range(1, 20)))
_mistake("one_more_for_a_power", layers=lambda steps, kernel: sum(kernel**i <= steps for i in range(20)))
_mistake("rounded_logarithm", layers=lambda steps, kernel: math.ceil(math.log(steps, kernel)))
