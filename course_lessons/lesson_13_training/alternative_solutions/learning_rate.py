"""Correct answers to 13.learning_rate in other styles than the solution's."""

import numpy as np
import torch


def by_tensors(step, steps, warmup, highest):
    lines = torch.tensor([step / warmup, (steps + 1 - step) / (steps + 1 - warmup)], dtype=torch.float64)
    return highest * lines.min()


def by_numpy(step, steps, warmup, highest):
    """Three corners, joined by straight lines."""
    return np.interp(step, [0, warmup, steps + 1], [0, highest, 0])


def by_a_scheduler(step, steps, warmup, highest):
    """A scheduler multiplies its optimizer's rate by a factor, here from any step on."""
    group = {"params": [torch.zeros(1)], "initial_lr": highest}
    optimizer = torch.optim.SGD([group], lr=highest)
    factor = lambda step: min(step / warmup, (steps + 1 - step) / (steps + 1 - warmup))  # noqa: E731
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor, last_epoch=step - 1).get_last_lr()[0]


OWN = [by_a_scheduler]
CORRECT = [*OWN, by_tensors, by_numpy]


def inputs(draw):
    steps = draw.randint(1, 40)
    return draw.randint(1, steps), steps, draw.randint(1, steps), draw.choice([0.25, 0.5, 3.0])
