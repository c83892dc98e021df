"""Task 13.learning_rate: the rate of each step, which rises during a warm-up and falls afterwards, in two straight lines."""

import math
from functools import partial
from operator import add, mul, truediv

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "13.learning_rate",
    "a schedule to fix",
    arguments=("step", "steps", "warmup", "highest"),
    result="rate",
    difficulty=2,
    importance=4,
    minutes=15,
    hints=(
        "Work out on paper what the version in the prompt returns at step 1, at step = warmup, at the last step and one step later, and compare each result with the promises. Each bug is an off-by-one error: count how many steps the rate takes to rise from 0 to its maximum and how many to fall back to 0.",
        (
            "Take 6 steps, a warm-up of 3 and a highest rate of 0.75. From 0 at step 0 the rate rises in three steps: 0.25, 0.5, 0.75. It would be 0 at step 7, which is four steps after step 3, so it falls by 0.75 / 4 = 0.1875 at each step: 0.5625, 0.375 and, at the last step, 0.1875. "
            "The version in the prompt returns 0 at the first step and at the last."
        ),
        "During the warm-up: highest times step, divided by warmup. From step = warmup on: highest times (steps + 1 - step), divided by (steps + 1 - warmup).",
    ),
)


@task.property
def a_rate_is_above_zero(case, value):
    """Every step moves the weights."""
    return (
        f"Every step has a rate above 0, including the first and the last; yours is {value:.4g}."
        if value <= 0
        else None
    )


@task.property
def no_rate_is_above_the_highest(case, value):
    """No rate is above `highest`."""
    step, steps, warmup, highest = case.args
    return f"No rate is above highest = {highest:.4g}; yours is {value:.4g}." if value > highest * 1.0001 else None


@task.cases
def _(draw):
    for steps, warmup, places in ((9, 4, (1, 2, 8)), (30, 7, (3, 6, 15)), (50, 20, (1, 11, 19, 33, 50))):
        for step in places:
            highest = int(draw.whole(2, 9)) / 8
            name = f"step {step} of {steps}, a warm-up of {warmup} steps, highest rate {highest:g}"
            yield Case(name, (step, steps, warmup, highest))
    warmup = int(draw.whole(8, 20))
    yield Case("the last step of the warm-up", (warmup, 40, warmup, 0.25))
    yield Case("the first step after the warm-up", (warmup + 1, 40, warmup, 0.25))
    yield Case("the very last step", (40, 40, warmup, 0.25))
    yield Case("a warm-up of one step, at its step", (1, 10, 1, 0.5), edge=True)
    yield Case("a warm-up of one step", (int(draw.whole(2, 9)), 10, 1, 0.5), edge=True)
    yield Case("a warm-up over all steps, in the middle", (7, 13, 13, 0.5), edge=True)
    yield Case("a warm-up over all steps, at the last", (13, 13, 13, 0.5), edge=True)
    yield Case("a single step", (1, 1, 1, 0.5), edge=True)
    yield Case("step 4,000 of 100,000", (4000, 100_000, 4000, 7e-4), edge=True)


LEFT, FALL = "the steps that are left", "the steps of the fall"
RISING, FALLING, LOWER, RATE = "the rising line", "the falling line", "the lower of the two lines", "the rate"


@task.steps
def _(step, steps, warmup, highest):
    rising = yield RISING, truediv, step, warmup
    left = yield LEFT, lambda steps, step: steps + 1 - step, steps, step
    fall = yield FALL, lambda steps, warmup: steps + 1 - warmup, steps, warmup
    falling = yield FALLING, truediv, left, fall
    lower = yield LOWER, min, rising, falling
    rate = yield RATE, mul, highest, lower
    return rate


task.changed_each(
    ("higher_line", "You take the larger of the two lines, so the rate starts high, falls during the warm-up and then rises. Take the smaller one.", {LOWER: max}),
    ("lines_added", "You add the two lines. At each step, the smaller of the two counts.", {LOWER: add}),
    ("lines_multiplied", "You multiply the two lines. At each step, the smaller of the two counts.", {LOWER: mul}),
    ("no_warm_up", "There is no warm-up: before it should end, the rate is above `highest`. During the warm-up it should rise with the step.", {LOWER: lambda rising, falling: falling}),
    ("warm_up_without_end", "The rate keeps rising at every step. After the warm-up it should fall.", {LOWER: left_out}),
    ("root_in_the_warm_up", "During the warm-up, your rate grows with the square root of the step. It should grow with the step itself.", {RISING: lambda step, warmup: (step / warmup) ** 0.5}),
    ("whole_numbers", "You divide with //, which drops everything after the decimal point, so the rate is 0 until the warm-up ends. Divide with /.", {RISING: lambda step, warmup: step // warmup}),
    ("warm_up_ends_too_late", "The learning rate peaks one step after the warm-up. It should peak at step = warmup.", {RISING: lambda step, warmup: step / (warmup + 1)}),
    ("steps_counted_from_0", "You add 1 to the step and to the warm-up, as you would if steps were counted from 0. Here they are counted from 1, so the rate of the first step is too high: divide the step itself by warmup.", {RISING: lambda step, warmup: (step + 1) / (warmup + 1)}),
    ("one_step_early", "During the warm-up, you add 1 to the step, as you would if steps were counted from 0. Here they are counted from 1: the learning rate peaks one step too early.", {RISING: lambda step, warmup: min((step + 1) / warmup, 1)}),
    ("falls_with_the_root", "After the warm-up, your rate falls with the square root of the step, as in Vaswani et al. (2017). Here it falls by the same amount at each step.", {FALLING: lambda left, fall, *, step, warmup: (warmup / step) ** 0.5}),
    ("falls_along_a_cosine", "After the warm-up, your rate falls along a cosine. Here it falls by the same amount at each step.", {FALLING: lambda left, fall: (1 - math.cos(math.pi * left / fall)) / 2}),
    ("stays_at_its_highest", "After the warm-up, your rate stays at its maximum. From then on, it should fall.", {FALLING: lambda left, fall: 1}),
    ("falls_from_the_first_step", "Your falling line starts at the first step, so the rate at step = warmup is below the maximum. It should start at the end of the warm-up.", {FALL: lambda steps, warmup: steps}),
    ("falls_over_one_step_less", "Your falling line has one step too few: after the warm-up, the rate stays at its maximum for one more step. Count the steps from step = warmup to the one after the last.", {FALL: lambda steps, warmup: max(steps - warmup, 1)}),
    ("counts_the_warm_up_again", "After the warm-up, you leave its steps out of the count, so the rate falls too late. The line should fall from step = warmup to one step after the last.", {LEFT: lambda steps, step, *, warmup: steps + 1 - step + warmup}),
    ("highest_unused", "`highest` has no effect: you return a fraction of it. Multiply the two.", {RATE: lambda highest, lower: lower}),
)  # fmt: skip
task.changed(
    "one_step_behind",
    "You subtract 1 from the step in both lines. Here the first step is number 1: use the step as it is.",
    {"step": lambda step: step - 1},
)
task.changed(
    "highest_from_the_start",
    "The rate is correct at the end of the warm-up and later. During the warm-up, however, it stays at its maximum instead of rising with each step.",
    {"step": lambda step, *, warmup: max(step, warmup)},
)


def _given(step, steps, warmup, highest, first=1, more=0):
    """The version in the prompt, with its two faults."""
    if step < warmup:
        return highest * (step - first) / warmup
    return highest * (steps + more - step) / (steps + more - warmup)


task.mistake(
    "This is still the version from the prompt, with both of its bugs. Compute its rate at the first step and at the last.",
    "as_given",
)(_given)
task.mistake(
    "After the warm-up the rate is correct. During the warm-up, you still count as if steps started at 0: the rate of step 1 is 0, so this step changes no parameter.",
    "second_fault_mended",
)(partial(_given, more=1))
task.mistake(
    "The warm-up is correct. After it, the rate is already 0 at the last step, which then changes no parameter. It should be 0 one step later.",
    "first_fault_mended",
)(partial(_given, first=0))
