"""Correct answers to 19.dilations in other styles than the solution's."""

import itertools
import math


def as_long_as_they_fit(steps, kernel):
    return list(itertools.takewhile(lambda dilation: dilation < steps, (kernel**i for i in itertools.count())))


def by_a_logarithm(steps, kernel):
    return [kernel**i for i in range(math.ceil(math.log(steps) / math.log(kernel) - 1e-9))]


NONE_OF_ITS_OWN = "PyTorch has convolutions with dilations, but nothing that chooses them."
CORRECT = [as_long_as_they_fit, by_a_logarithm]


def steps(draw):
    return draw.choice([draw.randint(1, 70), 3 ** draw.randint(0, 5), 2 ** draw.randint(0, 9) + 1])


INPUTS = {"steps": steps, "kernel": lambda draw: draw.randint(2, 4)}
