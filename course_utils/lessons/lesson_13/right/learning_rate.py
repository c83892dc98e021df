"""Right answers to 13.learning_rate in other styles than the solution's: a branch, the peak, logarithms, tensors, NumPy."""

import math

import numpy as np
import torch


def by_a_branch(step, width, warmup):
    if step < warmup:
        return step / (warmup * math.sqrt(warmup * width))
    return 1 / math.sqrt(step * width)


def from_the_peak(step, width, warmup):
    peak = (width * warmup) ** -0.5
    return peak * min(step / warmup, math.sqrt(warmup / step))


def by_logarithms(step, width, warmup):
    falling = -0.5 * math.log(step)
    rising = math.log(step) - 1.5 * math.log(warmup)
    return math.exp(min(falling, rising) - math.log(width) / 2)


def by_tensors(step, width, warmup):
    s = torch.tensor(float(step))
    return width**-0.5 * torch.minimum(s**-0.5, s * warmup**-1.5)


def by_numpy(step, width, warmup):
    return np.min([1 / np.sqrt(step), step / warmup**1.5]) / np.sqrt(width)


def as_beginners_write(step, width, warmup):
    arg1 = 1 / step**0.5
    arg2 = step / warmup**1.5
    rate = 1 / width**0.5
    if arg1 > arg2:
        return rate * arg2
    return rate * arg1


def by_a_scheduler(step, width, warmup):
    """A scheduler multiplies its optimizer's rate by a factor, here from any step on."""
    group = {"params": [torch.zeros(1)], "initial_lr": width**-0.5}
    optimizer = torch.optim.SGD([group], lr=width**-0.5)
    factor = lambda step: min(step**-0.5, step * warmup**-1.5)  # noqa: E731
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor, last_epoch=step - 1).get_last_lr()[0]


# PyTorch's own
OWN = [
    by_a_scheduler,
]
RIGHT = [*OWN, by_a_branch, from_the_peak, by_logarithms, by_tensors, by_numpy, as_beginners_write]
INPUTS = {"warmup": lambda draw: draw.randint(1, 12)}
