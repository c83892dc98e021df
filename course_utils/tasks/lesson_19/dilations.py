"""Task 19.dilations: how far each layer looks back, so that all together see a whole sequence (Mishra et al. 2018, section 3, TCBlock)."""

import math

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.shares import EDGE

task = Task(
    "19.dilations",
    "as many layers as it takes",
    arguments=("steps",),
    result="dilations",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "A convolution with the dilation d joins two stretches that end d places apart. After the dilation 1 a place knows 2 places; after 1 and 2 it knows 4; each further layer doubles the number. So count the doublings, beginning with 1, until all steps are covered.",
        "Take 6 steps. Without any layer a place knows 1 step, itself. The dilation 1 makes it 2, the dilation 2 makes it 4, and the dilation 4 makes it 8, which is enough: 3 layers, and log2 of 6 is 2.585, rounded up to 3. With 8 steps the same 3 layers are enough; with 9 a fourth one is needed, with the dilation 8.",
        "layers = log2 of steps, rounded up to a whole number; the list holds 2 to the power of i for i = 0, 1, … up to layers - 1. Or without a logarithm: begin with an empty list and known = 1; as long as known is less than steps, append known and double it.",
    ),
    partial=EDGE,
)


def _whole(value):
    return isinstance(value, (list, tuple)) and all(type(dilation) is int for dilation in value)


@task.property
def the_place_right_before_is_seen(case, value):
    """By the dilation 1."""
    (steps,) = case.args
    return (
        f"None of your dilations for {count(steps, 'step')} is 1, so no place can see the one right before it: each sum of your dilations leaves places out. Begin with 1."
        if steps > 1 and _whole(value) and len(value) and min(value) > 1
        else None
    )


@task.property
def the_first_step_is_seen_from_the_last(case, value):
    """All dilations together reach back steps - 1 places."""
    (steps,) = case.args
    if not _whole(value):
        return None
    reach = sum(value)
    if reach < steps - 1:
        return f"For {steps} steps your dilations add up to {reach}, so the last place looks back {count(reach, 'place')} at most. The first step stands {steps - 1} places before it."
    longest = max(value, default=0)
    if value and longest >= max(steps, 2):
        return f"For {count(steps, 'step')} one of your dilations is {longest}. No place has anything {longest} places before it, so that layer sees nothing more."
    return None


@task.cases
def _(draw):
    for low, high in ((3, 8), (5, 8), (9, 16), (17, 32), (33, 64), (65, 128), (129, 1000), (1001, 60000)):
        steps = int(draw.whole(low, high))
        yield Case(f"{steps} steps", (steps,))
    for power in draw.distinct(5, 2, 8).tolist():
        yield Case(f"{2**power} steps, a power of two", (2**power,))
    for power in draw.distinct(5, 2, 8).tolist():
        yield Case(f"{2**power + 1} steps, one more than a power of two", (2**power + 1,))
    yield Case("a single step", (1,), edge=True)
    yield Case("two steps", (2,), edge=True)
    yield Case("three steps", (3,), edge=True)
    yield Case("65,536 steps", (65536,), edge=True)
    yield Case("65,537 steps", (65537,), edge=True)


@task.oracle
def _(steps):
    return [2**i for i in range(20) if 2**i < steps]


def _layers(steps):
    return (steps - 1).bit_length()


def _mistake(name, sentence, dilation=lambda i: 2**i, layers=_layers, end=lambda dilations: dilations):
    """Register dilations of which one part is wrong: dilation(i), the number of layers, or what is returned."""
    task.mistake(sentence, name)(lambda steps: end([dilation(i) for i in range(layers(steps))]))


# How many

_mistake(
    "rounded_down",
    "You round the logarithm down, so unless steps is a power of two, the last place cannot see the first. Round it up, as math.ceil does.",
    layers=lambda steps: steps.bit_length() - 1,
)
_mistake(
    "one_more_for_a_power_of_two",
    "If steps is a power of two, you have one layer too many: 8 steps need the dilations 1, 2 and 4. A dilation has to be less than steps; if you compare with <=, or add 1 to the logarithm rounded down, the dilation `steps` gets in, and no place has anything that far back.",
    layers=lambda steps: steps.bit_length(),
)
_mistake(
    "one_layer_too_many",
    "You have one layer too many for every number of steps. There are ⌈log2 steps⌉ of them, and range(n) gives 0, 1, … up to n - 1.",
    layers=lambda steps: _layers(steps) + 1,
)
_mistake(
    "one_layer_too_few",
    "One layer is missing, the one with the largest dilation, so the last place cannot see the first half of the steps. There are ⌈log2 steps⌉ layers, and range(n) gives n numbers already.",
    layers=lambda steps: max(0, _layers(steps) - 1),
)
_mistake(
    "rounded_to_the_nearest",
    "You round the logarithm to the nearest whole number. Round it up, as math.ceil does, or the last place may not see the first.",
    layers=lambda steps: round(math.log2(steps)),
)
_mistake(
    "natural_logarithm",
    "You take the natural logarithm, as math.log and torch.log give it. Each layer doubles what a place sees, so take the logarithm to the base 2: math.log2.",
    layers=lambda steps: math.ceil(math.log(steps)),
)
_mistake(
    "decimal_logarithm",
    "You take the logarithm to the base 10. Each layer doubles what a place sees, so take the logarithm to the base 2: math.log2.",
    layers=lambda steps: math.ceil(math.log10(steps)),
)
_mistake(
    "as_many_as_steps",
    "You give a layer to each step. Each layer doubles what a place sees, so ⌈log2 steps⌉ of them are enough.",
    layers=lambda steps: steps if steps < 200 else 200,
)
_mistake(
    "a_layer_for_a_single_step",
    "For a single step you return the dilation 1. The only place sees itself without any layer: return an empty list.",
    layers=lambda steps: max(1, _layers(steps)),
)


# How far

_mistake(
    "begins_at_2",
    "Your dilations begin with 2, as the paper's listing does if it is read literally. Then no place ever sees the one right before it, since all sums of these numbers are even. Begin with 1: 2 to the power of 0.",
    dilation=lambda i: 2 ** (i + 1),
)
_mistake(
    "one_left_out",
    "The dilation 1 is missing; all others are right. range(1, n) begins with 1, and 2 to the power of 1 is 2: begin with i = 0.",
    end=lambda dilations: dilations[1:],
)
_mistake(
    "one_after_another",
    "Your dilations grow by 1: 1, 2, 3 and so on. Double them: 1, 2, 4.",
    dilation=lambda i: i + 1,
)
_mistake(
    "even_numbers",
    "Your dilations are 2 times 1, 2, 3 and so on. Take powers of two: 1, 2, 4, …",
    dilation=lambda i: 2 * (i + 1),
)
_mistake(
    "two_times_i",
    "Your dilations are 2 times 0, 1, 2 and so on. Take 2 to the power of i, which is 2**i in Python.",
    dilation=lambda i: 2 * i,
)
_mistake(
    "squares",
    "Your dilations are squares: i to the power of 2. Take 2 to the power of i, which is 2**i in Python.",
    dilation=lambda i: i**2,
)
_mistake(
    "squares_from_1",
    "Your dilations are the squares 1, 4, 9 and so on. Double each to get the next: 1, 2, 4, …",
    dilation=lambda i: (i + 1) ** 2,
)
_mistake(
    "xor_for_a_power",
    "In Python, 2^i is not a power: ^ compares bits. Write 2**i.",
    dilation=lambda i: 2 ^ i,
)
_mistake(
    "powers_of_three",
    "Your dilations are powers of 3. The convolution has two weights, so each layer doubles what a place sees: take powers of 2.",
    dilation=lambda i: 3**i,
)
_mistake(
    "all_ones",
    "All your dilations are 1, so each layer sees only one place more. Double the dilation from layer to layer.",
    dilation=lambda i: 1,
)
_mistake(
    "what_is_seen",
    "You return how many places are seen after each layer, less 1: 1, 3, 7 and so on. Return the dilations: 1, 2, 4, …",
    dilation=lambda i: 2 ** (i + 1) - 1,
)
_mistake(
    "layer_numbers",
    "You return the numbers of the layers, 0, 1, 2 and so on. Return 2 to the power of each.",
    dilation=lambda i: i,
)


# What is returned


@task.mistake(
    "Your last dilation is smaller than a power of two, as if all of them had to reach the first step exactly. Each is twice the one before it, and so is the last one: reaching further does no harm."
)
def last_one_cut(steps):
    dilations = [2**i for i in range(_layers(steps))]
    return [*dilations[:-1], steps - 1 - sum(dilations[:-1])] if dilations else []


_mistake(
    "largest_first",
    "Your list begins with the largest dilation. Begin with 1.",
    end=lambda dilations: dilations[::-1],
)
_mistake(
    "number_of_layers",
    "You return the number of layers. Return the list of their dilations.",
    end=len,
)
_mistake(
    "largest_only",
    "You return the largest dilation. Return the list of all of them.",
    end=lambda dilations: max(dilations, default=0),
)
