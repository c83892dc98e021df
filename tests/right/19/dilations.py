"""Right answers to 19.dilations in other styles than the solution's: doubling, bits, sets of powers, recursion, tensors, loops."""

import itertools
import math

import numpy as np
import torch


def doubled(steps):
    found, known = [], 1
    while known < steps:
        found.append(known)
        known *= 2
    return found


def by_bits(steps):
    return [1 << i for i in range((steps - 1).bit_length())]


def as_long_as_they_fit(steps):
    return list(itertools.takewhile(lambda dilation: dilation < steps, (2**i for i in itertools.count())))


def half_the_steps_each_time(steps):
    shorter = half_the_steps_each_time((steps + 1) // 2) if steps > 1 else []
    return [*shorter, 2 ** len(shorter)] if steps > 1 else []


def by_torch(steps):
    layers = torch.tensor(float(steps), dtype=torch.float64).log2().ceil().int().item()
    return (2 ** torch.arange(layers)).tolist()


def by_numpy(steps):
    return [int(dilation) for dilation in 2 ** np.arange(int(np.ceil(np.log2(steps))))]


def by_another_logarithm(steps):
    return [2**i for i in range(math.ceil(math.log(steps) / math.log(2) - 1e-9))]


def as_beginners_write(steps):
    result = []
    dilation = 1
    reach = 0
    while reach < steps - 1:
        result.append(dilation)
        reach = reach + dilation
        dilation = dilation * 2
    return result


# PyTorch's own
OWN = [
    by_torch,
]
RIGHT = [
    *OWN,
    doubled,
    by_bits,
    as_long_as_they_fit,
    half_the_steps_each_time,
    by_numpy,
    by_another_logarithm,
    # As beginners write them
    as_beginners_write,
]


def steps(draw):
    return draw.choice([draw.randint(1, 70), 2 ** draw.randint(0, 9), 2 ** draw.randint(0, 9) + 1])


INPUTS = {"steps": steps}
