"""Task 13.learning_rate: the rate of each step, which rises during a warm-up and falls afterwards, in two straight lines."""

import math

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "a schedule to fix",
    arguments=("step", "steps", "warmup", "highest"),
    result="rate",
    difficulty=2,
    importance=4,
    minutes=15,
)


@task.property
def a_rate_is_above_zero(case, value):
    """Every step moves the weights."""
    if value <= 0:
        return f"Every step has a rate above 0, including the first and the last; yours is {value:.4g}."
    return None


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


def along_a_cosine(share):
    """Take the place of the falling line."""
    return (1 - math.cos(math.pi * share)) / 2
