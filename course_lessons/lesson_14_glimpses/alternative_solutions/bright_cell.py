"""Correct answers to 14.bright_cell in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_a_grid(location, row, column, k, side):
    """The middles of all cells at once: a grid of 8×8, moved and scaled."""
    scale = 8 * 2**k / side  # of the patch, as a share of the picture
    theta = torch.cat([scale * torch.eye(2), location[:, None]], dim=1)  # 2 3
    return F.affine_grid(theta[None], [1, 1, 8, 8], align_corners=False)[0, row, column]


def in_pixels_of_the_picture(location, row, column, k, side):
    pixel = (location + 1) / 2 * side  # column and row of the location
    pixel = pixel + (torch.tensor([column, row]) - 3.5) * 2**k
    return pixel / side * 2 - 1


OWN = [by_a_grid]
CORRECT = [*OWN, in_pixels_of_the_picture]
WORKED = [(([0.5, 0], 2, 1, 2, 64), "0.1875 -0.1875")]
INPUTS = {
    "row": lambda draw: draw.randint(0, 7),
    "column": lambda draw: draw.randint(0, 7),
    "k": lambda draw: draw.randint(0, 3),
    "side": lambda draw: draw.randint(8, 200),
}
