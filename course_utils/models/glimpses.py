"""The recurrent attention model of Mnih et al. 2014, which sees a picture only through a few small glimpses and learns where to look.

Here: the sensor, the four networks around it, the loss and the training. Not here: the pictures (`data/digit_fields.py`), nor hard
attention to a list of states (`hard.py`).

Locations are pairs (x, y) from -1 to 1: (-1, -1) is the upper left corner of the picture, (0, 0) its centre.

Shape letters: B batch, Y and X a picture's height and width, T glimpses, P pixels of a glimpse, D width of a glimpse's features and of
the state, V classes.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def corner(location: Tensor, height: int, width: int, side: int) -> tuple[Tensor, Tensor]:
    """Return the upper left corner of a square patch around a location.

    Args:
        location: B×2, (x, y) from -1 to 1.
        height, width: of the picture, in pixels.
        side: of the patch, in pixels.

    Returns:
        Top and left, whole numbers, B each. They may lie outside the picture.
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
    patches, rows = [], torch.arange(len(image))[:, None, None]  # B 1 1
    for k in range(scales):
        side = size * 2**k
        top, left = corner(location, *image.shape[1:], side)
        along, across = (start[:, None] + torch.arange(side) for start in (top, left))  # B side each
        inside = _within(along, image.shape[1])[:, :, None] & _within(across, image.shape[2])[:, None]  # B side side
        along, across = along.clamp(0, image.shape[1] - 1), across.clamp(0, image.shape[2] - 1)
        pixels = image[rows, along[:, :, None], across[:, None]].where(inside, 0.0)  # B side side
        patches.append(F.avg_pool2d(pixels[:, None], 2**k))  # B 1 size size
    return torch.cat(patches, 1)


def _within(places, length):
    return (places >= 0) & (places < length)
