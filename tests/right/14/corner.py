"""Right answers to 14.corner in other styles than the solution's: both at once, shares, floor division, integers, loops."""

import math

import torch


def both_at_once(location, height, width, side):
    sizes = location.new_tensor([width, height])
    starts = torch.floor((location + 1) * sizes / 2).to(torch.int64) - side // 2
    return starts[:, 1], starts[:, 0]


def by_shares(location, height, width, side):
    x, y = (location * 0.5 + 0.5).unbind(1)
    return (y * height).int() - side // 2, (x * width).int() - side // 2


def by_floor_division(location, height, width, side):
    x, y = location.T
    return ((y * height + height) // 2 - side // 2).long(), ((x * width + width) // 2 - side // 2).long()


def half_first(location, height, width, side):
    """Subtracts half of the side before rounding down."""
    half = side // 2
    left, top = ((location + 1) / 2 * torch.tensor([width, height]) - half).floor().to(torch.int32).unbind(-1)
    return top, left


def as_beginners_write(location, height, width, side):
    tops = []
    lefts = []
    for i in range(len(location)):
        x = location[i][0].item()
        y = location[i][1].item()
        lefts.append(math.floor((x + 1) / 2 * width) - side // 2)
        tops.append(math.floor((y + 1) / 2 * height) - side // 2)
    return torch.tensor(tops), torch.tensor(lefts)


def by_numpy(location, height, width, side):
    import numpy as np

    share = (location.numpy().astype(np.float64) + 1) / 2
    corners = np.floor(share * [width, height]).astype(int) - int(side / 2)
    return torch.from_numpy(corners[:, 1].copy()), torch.from_numpy(corners[:, 0].copy())


NONE_OF_ITS_OWN = "It is arithmetic and rounding; F.grid_sample rounds in its own way."
RIGHT = [both_at_once, by_shares, by_floor_division, half_first, as_beginners_write, by_numpy]
INPUTS = {"height": lambda draw: draw.randint(1, 12), "side": lambda draw: draw.randint(1, 9)}
