"""The loop of lesson 13, which trains the lessons' small models in seconds. Not here: what they learn from (each model's own `fit`),
or training that can be stopped and resumed (`training/`).
"""

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LinearLR, LRScheduler

from course_utils.base.progress_bar import with_bar


def take_step(model: nn.Module, optimizer: Optimizer, loss: Tensor) -> None:
    """Move the weights against the gradient of a loss, whose norm is clipped to 1."""
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def make_schedules(optimizer: Optimizer, steps: int, warmup: int) -> list[LRScheduler]:
    """Return the factors of the learning rate: one falls to a twentieth over all steps, the other rises from near 0 in the first ones."""
    schedules = [LinearLR(optimizer, 1.0, 0.05, steps)]
    if warmup:
        schedules.append(LinearLR(optimizer, 1 / warmup, 1.0, warmup))
    return schedules


class BestWeights:
    """The weights of a model in training with the lowest validation loss so far.

    Args:
        validation_loss: function without arguments that returns the loss of the model, a scalar.
        every: steps between looks.

    `losses` holds the validation loss at each look.
    """

    def __init__(self, model: nn.Module, validation_loss: Callable[[], Tensor], every: int = 50):
        self.model = model
        self.validation_loss = validation_loss
        self.every = every
        self.losses = []
        self.weights = copy.deepcopy(model.state_dict())

    @torch.no_grad()
    def look(self) -> None:
        """Compute the validation loss without dropout, and keep a copy of the weights if it is the lowest so far."""
        self.model.eval()
        loss = self.validation_loss().item()
        self.model.train()
        if loss < min(self.losses, default=math.inf):
            self.weights = copy.deepcopy(self.model.state_dict())
        self.losses.append(loss)


def train_model(
    model: nn.Module,
    batch_loss: Callable[[torch.Generator], Tensor],
    seed: int,
    steps: int,
    rate: float,
    warmup: int = 0,
    decay: float = 0.0,
    best: BestWeights | None = None,
) -> list[float]:
    """Train a model with AdamW and gradients of norm 1 at most; it is left in eval mode.

    Args:
        batch_loss: function(generator) that draws a batch and returns the model's loss on it, a scalar.
        seed: of the batches.
        rate: the highest rate, which falls linearly to a twentieth.
        warmup: steps in which the rate also grows from near 0.
        decay: λ of the weight decay of AdamW (Loshchilov & Hutter 2019); with 0 it is Adam.
        best: whose weights the model gets in the end; without it, the model keeps the last ones.

    Returns:
        The loss of each step.
    """
    draw = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=decay)
    schedules = make_schedules(optimizer, steps, warmup)
    losses = []
    model.train()
    for step in with_bar(range(1, steps + 1)):
        loss = batch_loss(draw)
        take_step(model, optimizer, loss)
        losses.append(loss.item())
        for schedule in schedules:
            schedule.step()
        if best and step % best.every == 0:
            best.look()
    if best and best.losses:
        model.load_state_dict(best.weights)
    model.eval()
    return losses
