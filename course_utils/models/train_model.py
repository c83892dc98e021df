"""The loop in which the lessons' small models learn in seconds. Not here: what they learn from (each model's own `fit`), nor training
that can be stopped and resumed (`training/`).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from course_utils.base.progress_bar import with_bar


def train_model(
    model: nn.Module,
    loss_of_batch: Callable[[torch.Generator], Tensor],
    seed: int,
    steps: int,
    rate: float,
    warmup: int = 0,
    optimizer: type[torch.optim.Optimizer] = torch.optim.Adam,
    schedule: Callable[[int], float] | None = None,
) -> list[float]:
    """Train a model, with gradients of norm 1 at most and a rate that falls linearly to a twentieth if no schedule is given.

    Args:
        loss_of_batch: function(where chance comes from) draws a batch and returns the model's loss on it, a scalar.
        seed: of the batches.
        warmup: steps in which the rate also grows from near 0.
        optimizer: makes the steps; Adam if no other is named.
        schedule: function(steps taken) → the share of the rate that the next step has. Not together with a warm-up.

    Returns:
        The loss of each step.
    """
    draw = torch.Generator().manual_seed(seed)
    stepper = optimizer(model.parameters(), lr=rate)
    if schedule is None:
        schedules = [torch.optim.lr_scheduler.LinearLR(stepper, 1.0, 0.05, steps)]
    else:
        schedules = [torch.optim.lr_scheduler.LambdaLR(stepper, schedule)]
    if warmup:
        schedules.append(torch.optim.lr_scheduler.LinearLR(stepper, 1 / warmup, 1.0, warmup))
    losses = []
    for _ in with_bar(range(steps)):
        loss = loss_of_batch(draw)
        stepper.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        stepper.step()
        for schedule in schedules:
            schedule.step()
        losses.append(loss.item())
    return losses
