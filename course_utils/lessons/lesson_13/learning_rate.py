"""Task 13.learning_rate: the rate of each step, which rises during a warm-up and falls afterwards."""

from functools import partial
from operator import add, mul

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.checks.way import left_out

task = Task(
    "13.learning_rate",
    "a schedule to mend",
    arguments=("step", "width", "warmup"),
    result="rate",
    difficulty=2,
    importance=4,
    minutes=15,
    hints=(
        "Compute on paper what the version in the prompt gives at step 1, at step = warmup and at four times that, and compare each with the promises. Another way to write it: there are two curves: one that rises with the step, in a straight line, and one that falls with the root of the step. They meet at the last step of the warm-up. The rate is the lower of the two, and how wide the model is scales both alike.",
        (
            "Take a width of 16 and a warm-up of 4 steps. At step 2 the falling curve is at 1/√2 = 0.7071, and the rising one at 2 / 4^1.5 = 2 / 8 = 0.25. The lower one is 0.25; divided by √16 = 4, the rate is 0.0625. At step 4 both are at 0.5, and the rate is 0.125, the highest of all. "
            "At step 16 the falling curve is at 0.25, the rising one at 2, and the rate is 0.0625 again."
        ),
        "falling = step to the power of -0.5; rising = step times (warmup to the power of -1.5); take the smaller of the two; times (width to the power of -0.5).",
    ),
)


@task.property
def a_rate_is_above_zero(case, value):
    """Every step moves the weights."""
    return f"A rate is above 0 from step 1 on; yours is {value:.4g}." if value <= 0 else None


@task.property
def the_highest_rate_comes_at_the_end_of_the_warm_up(case, value):
    """No rate is above 1 / √(width · warmup)."""
    step, width, warmup = case.args
    highest = (width * warmup) ** -0.5
    return (
        f"With a width of {width} and a warm-up of {warmup} steps no rate should be above 1 / √({width} · {warmup}) = {highest:.4g}, which is that of step {warmup}. At step {step} yours is {value:.4g}."
        if value > highest * 1.0001
        else None
    )


@task.cases
def _(draw):
    for width, warmup, steps in ((4, 5, (1, 2)), (16, 9, (4, 25)), (6, 10, (7, 8, 60)), (24, 13, (1, 5, 11, 17, 150))):
        for step in steps:
            warm = warmup + int(draw.whole(0, 4))
            yield Case(f"step {step}, width {width}, a warm-up of {warm} steps", (step, width, warm))
    warmup = int(draw.whole(8, 20))
    yield Case("the last step of the warm-up", (warmup, 8, warmup))
    yield Case("the first step after the warm-up", (warmup + 1, 8, warmup))
    yield Case("a width of 1", (int(draw.whole(2, 6)), 1, 11), edge=True)
    yield Case("a warm-up of one step, at its step", (1, 10, 1), edge=True)
    yield Case("a warm-up of one step", (int(draw.whole(2, 20)), 10, 1), edge=True)
    yield Case("the paper's width and warm-up at step 4,000", (4000, 512, 4000), edge=True)
    yield Case("the paper's width and warm-up at step 100,000", (100_000, 512, 4000), edge=True)


@task.oracle
def _(step, width, warmup):
    highest = 1 / (width * warmup) ** 0.5
    return highest * step / warmup if step < warmup else highest * (warmup / step) ** 0.5


@task.steps
def _(step, width, warmup):
    falling = yield "the falling curve", lambda step: step**-0.5, step
    slope = yield "how much the rising curve rises with each step", lambda warmup: warmup**-1.5, warmup
    rising = yield "the rising curve", mul, step, slope
    lower = yield "the lower of the two curves", min, falling, rising
    scale = yield "the width to the power of -0.5", lambda width: width**-0.5, width
    rate = yield "the product of the scale and the lower curve", mul, scale, lower
    return rate


FALLING, SLOPE, RISING = "the falling curve", "how much the rising curve rises with each step", "the rising curve"
LOWER, SCALE = "the lower of the two curves", "the width to the power of -0.5"

for name, sentence, step, change in (
    ("higher_curve", "You take the larger of the two curves, so the rate begins high, falls during the warm-up and rises without end. Take the smaller one.", LOWER, max),
    ("curves_added", "You add the two curves. At each step the smaller one of them counts.", LOWER, add),
    ("no_warm_up", "There is no warm-up: the rate is that of the falling curve at every step, and so the first step gets the highest rate of all. Take the smaller of the two curves.", LOWER, left_out),
    ("warm_up_without_end", "The rate rises at every step, without end: it is that of the rising curve alone. Take the smaller of the two curves.", LOWER, lambda falling, rising: rising),
    ("warm_up_to_the_half", "In the rising curve the power of warmup is -0.5, so the falling curve is the lower one nearly everywhere, and there is hardly a warm-up. The power is -1.5: then both curves meet at step = warmup.", SLOPE, lambda warmup: warmup**-0.5),
    ("warm_up_to_the_one", "In the rising curve the power of warmup is -1, so that it reaches 1 at the end of the warm-up. The power is -1.5: then both curves meet there.", SLOPE, lambda warmup: 1 / warmup),
    ("root_in_the_warm_up", "During the warm-up your rate grows with the root of the step. It grows with the step itself.", RISING, lambda step, slope: step**0.5 * slope),
    ("power_of_the_product", "In the rising curve you raise step to the power of -1.5 as well, so it falls. The power belongs to warmup alone.", RISING, lambda step, slope: step**-1.5 * slope),
    ("falls_with_the_step", "The falling curve is 1 / step. The rate should fall more slowly, with the root of the step: 1 / √step.", FALLING, lambda step: 1 / step),
    ("falling_curve_rises", "The power of step in the falling curve is 0.5, without its minus sign, so that nothing ever falls.", FALLING, lambda step: step**0.5),
    ("stays_at_its_highest", "After the warm-up your rate stays at its highest. From there on it should fall with the root of the step.", FALLING, lambda step, *, warmup: warmup**-0.5),
    ("in_a_straight_line_to_zero", "After the warm-up your rate falls in a straight line, to 0 at twice the warm-up. It should fall with the root of the step, which never reaches 0.", FALLING, lambda step, *, warmup: warmup**-0.5 * max(0.0, 2 - step / warmup)),
    ("width_unused", "The width has no effect. The rate is divided by its root.", SCALE, lambda width: 1),
    ("width_without_root", "You divide by the width. Divide by its root.", SCALE, lambda width: 1 / width),
    ("times_the_root_of_the_width", "You multiply by the root of the width. The wider a model is, the smaller its rate: the power is -0.5.", SCALE, lambda width: width**0.5),
):  # fmt: skip
    task.changed(name, sentence, {step: change})


# Which step it is

task.changed(
    "one_step_behind",
    "You subtract 1 from the step. Here the first step has the number 1, and 0 to a negative power has no value, so Python raises ZeroDivisionError there.",
    {"step": lambda step: step - 1},
)
task.changed(
    "one_step_behind_safely",
    "You subtract 1 from the step, so the first step has a rate of 0 and changes nothing. Here steps count from 1: use them as they are.",
    {"step": lambda step: step - 1, FALLING: lambda step: step**-0.5 if step else 0.0},
)
task.changed(
    "highest_from_the_start",
    "The rate is right at the end of the warm-up and later. During the warm-up it stays at its highest, and it should rise from step to step.",
    {"step": lambda step, *, warmup: max(step, warmup)},
)


@task.mistake(
    "After the warm-up you count its steps anew: the falling curve begins with 1 / √1 there. It counts all steps from the first one on."
)
def counted_anew(step, width, warmup):
    return task.oracle_function(step, width, warmup) if step <= warmup else (width * (step - warmup)) ** -0.5


def _given(step, width, warmup, first=1, power=1.0):
    """The version in the prompt, with its two faults."""
    rate = (width * warmup) ** -0.5
    return rate * (step - first) / warmup if step < warmup else rate * (warmup / step) ** power


task.mistake(
    "This is still the version from the prompt, with both of its faults. Compute its rate at step 1, and at four times the warm-up.",
    "as_given",
)(_given)
task.mistake(
    "After the warm-up the rate is right. During the warm-up you still count as if steps began with 0: the rate of step 1 is 0, so it moves nothing.",
    "second_fault_mended",
)(partial(_given, power=0.5))
task.mistake(
    "The warm-up is right. After it the rate still falls with the step: at four times the warm-up it is a quarter of the highest rate, and it should be half.",
    "first_fault_mended",
)(partial(_given, first=0))
