"""The recurrent attention model of Mnih et al. 2014, which sees a picture only through a few small glimpses and learns where to look.

Here: the sensor, the four networks around it, the loss and the training. Not here: the pictures (`data/digit_fields.py`).

Locations are pairs (x, y) from -1 to 1: (-1, -1) is the upper left corner of the picture, (0, 0) its centre.

Shape letters: B batch, Y and X a picture's height and width, T looks, P pixels of a glimpse, D width of a glimpse's features and of
the state, V classes.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.digit_fields import SIDE, digit_fields
from course_utils.models.train_model import train_model
from course_utils.models.validation import check_sizes


def corner(location: Tensor, height: int, width: int, side: int) -> tuple[Tensor, Tensor]:
    """Return the upper left corner of a square patch around a location.

    Args:
        location: B×2, (x, y) from -1 to 1.
        height, width: of the picture, in pixels.
        side: of the patch, in pixels.

    Returns:
        Top and left, whole numbers, B each. They may be outside the picture.
    """
    sizes = location.new_tensor([width, height])
    left, top = ((location + 1) / 2 * sizes).floor().long().unbind(-1)  # B each
    return top - side // 2, left - side // 2


def glimpse(image: Tensor, location: Tensor, size: int, scales: int) -> Tensor:
    """Return patches around a location, each twice as wide as the one before, all reduced to the same size (section 3.1).

    Args:
        image: B×Y×X.
        location: B×2, (x, y) from -1 to 1.
        size: of a patch, in cells.
        scales: how many patches.

    Returns:
        B×scales×size×size. A cell of patch k is the mean of 2ᵏ × 2ᵏ pixels; outside the picture there are zeros.
    """
    widest = size * 2 ** (scales - 1)
    top, left = corner(location, *image.shape[1:], widest)
    along, across = (start[:, None] + torch.arange(widest) for start in (top, left))  # B widest each
    inside = _within(along, image.shape[1])[:, :, None] & _within(across, image.shape[2])[:, None]  # B widest widest
    along, across = along.clamp(0, image.shape[1] - 1), across.clamp(0, image.shape[2] - 1)
    rows = torch.arange(len(image))[:, None, None]  # B 1 1
    pixels = image[rows, along[:, :, None], across[:, None]].where(inside, 0.0)  # B widest widest
    patches = []
    for k in range(scales):  # each is in the middle of the widest
        side = size * 2**k
        middle = slice(widest // 2 - side // 2, widest // 2 - side // 2 + side)
        patches.append(F.avg_pool2d(pixels[:, None, middle, middle], 2**k))  # B 1 size size
    return torch.cat(patches, 1)


def _within(places, length):
    return (places >= 0) & (places < length)


def location_log_probability(location: Tensor, mean: Tensor, std: float) -> Tensor:
    """Return the log density of a Gaussian with the same spread in both directions: location B×2, mean B×2 → B."""
    squares = ((location - mean) / std).square().sum(-1)  # B
    return -squares / 2 - math.log(2 * math.pi * std**2)


class GlimpseOutput(NamedTuple):
    """A model's logits B×V and locations B×T×2. For the locations it chose itself, all but the first:
    their log density and the reward expected beforehand, B×(T-1) each."""

    logits: Tensor
    locations: Tensor
    log_probability: Tensor
    baseline: Tensor


class RecurrentAttentionModel(nn.Module):
    """The four networks of section 3.1. They never see the picture, only glimpses of it.

    The glimpse network is ReLU(W₁ ReLU(W_what p) + W₂ ReLU(W_where l)); the location network gives the mean of a Gaussian, the action
    network the logits. The core is a GRU, where the paper has one layer with ReLU for pictures and an LSTM for a game.

    Args:
        size, scales: of a glimpse.
        features: width of what is seen and of where it is, before they are joined.
        width: D.
        classes: V.

    Raises:
        CourseError: for a size below 1.
    """

    def __init__(self, size=8, scales=3, features=64, width=128, classes=10):
        super().__init__()
        check_sizes(1, size=size, scales=scales, features=features, width=width, classes=classes)
        self.size, self.scales = size, scales
        self.what, self.where = nn.Linear(scales * size**2, features), nn.Linear(2, features)
        self.from_what, self.from_where = nn.Linear(features, width), nn.Linear(features, width)
        self.core = nn.GRUCell(width, width)
        self.location, self.action, self.value = nn.Linear(width, 2), nn.Linear(width, classes), nn.Linear(width, 1)

    def see(self, image: Tensor, location: Tensor) -> Tensor:
        """Return the features of a glimpse: image B×Y×X, location B×2 → B×D."""
        patches = glimpse(image, location, self.size, self.scales).flatten(1)  # B P
        return (self.from_what(self.what(patches).relu()) + self.from_where(self.where(location).relu())).relu()

    def aim(self, state: Tensor) -> Tensor:
        """Return the mean of the next location: state B×D → B×2, from -1 to 1."""
        return self.location(state).tanh()

    def forward(
        self, image: Tensor, looks: int, sigma: float = 0.0, draw: torch.Generator | None = None
    ) -> GlimpseOutput:
        """Look at pictures, first at their centre.

        Args:
            image: B×Y×X, of any size.
            looks: T.
            sigma: standard deviation of the Gaussians from which locations are drawn; with 0 it looks at their means, and all log
                densities are 0.
            draw: the random generator.
        """
        location = image.new_zeros(len(image), 2)  # B 2
        state = self.core(self.see(image, location))  # B D
        locations, densities, baselines = [location], [], []
        for _ in range(looks - 1):
            mean = self.aim(state)
            # To the gradient, a drawn location is a constant.
            drawn = (mean + sigma * torch.randn(mean.shape, generator=draw)).detach()
            densities.append(location_log_probability(drawn, mean, sigma) if sigma else torch.zeros(len(image)))
            baselines.append(self.value(state.detach()).squeeze(-1))
            location = drawn.clamp(-1, 1)
            locations.append(location)
            state = self.core(self.see(image, location), state)
        none = image.new_zeros(len(image), 0)
        stacked = (torch.stack(found, 1) if found else none for found in (densities, baselines))
        return GlimpseOutput(self.action(state), torch.stack(locations, 1), *stacked)


def hybrid_loss(logits: Tensor, label: Tensor, log_probability: Tensor, reward: Tensor, baseline: Tensor) -> Tensor:
    """Return the loss of section 3.2: cross-entropy for what it says, REINFORCE for where it looks, squared error for the reward it expects.

    Args:
        logits: B×V.
        label: B, whole numbers below V.
        log_probability: of the locations, B×T.
        reward: B.
        baseline: B×T.

    Returns:
        A scalar. Its gradient reaches the locations only through `log_probability`, and the baseline only through the squares.
    """
    surprise = reward[:, None] - baseline  # B T
    policy = -(surprise.detach() * log_probability).sum(1).mean()
    squares = surprise.square().mean() if baseline.numel() else logits.new_zeros(())
    return F.cross_entropy(logits, label) + policy + squares


def fit(
    model: RecurrentAttentionModel,
    side: int,
    clutter=0,
    looks=3,
    seed=0,
    steps=2000,
    sigma=(0.5, 0.1),
    loss=hybrid_loss,
    batch=128,
) -> list[float]:
    """Train a model on fields that are new in each step; the reward is the probability that it gives to the right digit.

    Args:
        side, clutter: of the fields.
        looks: T.
        seed: for everything drawn.
        sigma: of the locations in the first step and from two thirds of the steps on.
        loss: function(logits, label, log_probability, reward, baseline), like `hybrid_loss`.

    Returns:
        The loss of each step.
    """
    wide, narrow = sigma
    sigmas = iter(torch.linspace(0, 1.5, steps).clamp(max=1).mul(narrow - wide).add(wide).tolist())

    def loss_of_batch(draw):
        fields, labels, _ = digit_fields(batch, side, clutter, draw)
        output = model(fields, looks, next(sigmas), draw)
        reward = output.logits.detach().softmax(-1).gather(1, labels[:, None]).squeeze(1)  # B
        return loss(output.logits, labels, output.log_probability, reward, output.baseline)

    return train_model(model, loss_of_batch, seed, steps, rate=3e-3)


@torch.no_grad()
def evaluate(
    model: RecurrentAttentionModel, side: int, clutter=0, looks=3, number=1000, seed=10_000
) -> tuple[float, float]:
    """Return the share of right answers on fields with new digits, and of last glimpses within the digit's box."""
    fields, labels, corners = digit_fields(number, side, clutter, torch.Generator().manual_seed(seed), "test")
    output = model(fields, looks)
    right = (output.logits.argmax(-1) == labels).float().mean().item()
    return right, in_box(output.locations[:, -1], corners, side).float().mean().item()


def in_box(location: Tensor, corners: Tensor, side: int) -> Tensor:
    """Return whether locations are within the digits' boxes: location N×2, rows and columns of the upper left corners N×2 → N."""
    pixels = (location.flip(-1) + 1) / 2 * side  # N 2, row and column
    return ((corners <= pixels) & (pixels <= corners + SIDE)).all(-1)


def convolutional(classes=10) -> nn.Sequential:
    """Return a network that reads every pixel of a picture B×1×Y×X of any size: three layers of 3×3 convolutions, B×V logits."""
    layers = []
    for inputs, outputs in ((1, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers[:-1], nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def fit_convolutional(model: nn.Module, side: int, clutter=0, seed=0, steps=2000, batch=128) -> list[float]:
    """Train a network as `fit` does, but by cross-entropy alone; return the loss of each step."""

    def loss_of_batch(draw):
        fields, labels, _ = digit_fields(batch, side, clutter, draw)
        return F.cross_entropy(model(fields[:, None]), labels)

    return train_model(model, loss_of_batch, seed, steps, rate=3e-3)
