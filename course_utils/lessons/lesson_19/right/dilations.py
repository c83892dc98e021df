"""Right answers to 19.dilations in other styles than the solution's: sets of powers, recursion, tensors, logarithms, loops."""

import itertools
import math

import torch


def as_long_as_they_fit(steps, kernel):
    return list(itertools.takewhile(lambda dilation: dilation < steps, (kernel**i for i in itertools.count())))


def a_part_of_the_steps_each_time(steps, kernel):
    shorter = a_part_of_the_steps_each_time(-(-steps // kernel), kernel) if steps > 1 else []
    return [*shorter, kernel ** len(shorter)] if steps > 1 else []


def by_torch(steps, kernel):
    powers = kernel ** torch.arange(30 if kernel < 4 else 10)
    return powers[powers < steps].tolist()


def by_a_logarithm(steps, kernel):
    return [kernel**i for i in range(math.ceil(math.log(steps) / math.log(kernel) - 1e-9))]


def as_beginners_write(steps, kernel):
    result = []
    dilation = 1
    reach = 0
    while reach < steps - 1:
        result.append(dilation)
        reach = reach + dilation * (kernel - 1)
        dilation = dilation * kernel
    return result


NONE_OF_ITS_OWN = "PyTorch has convolutions with dilations, but nothing that chooses them."
RIGHT = [
    as_long_as_they_fit,
    a_part_of_the_steps_each_time,
    by_torch,
    by_a_logarithm,
    # As beginners write them
    as_beginners_write,
]


def steps(draw):
    return draw.choice([draw.randint(1, 70), 3 ** draw.randint(0, 5), 2 ** draw.randint(0, 9) + 1])


INPUTS = {"steps": steps, "kernel": lambda draw: draw.randint(2, 4)}
