"""Correct answers to 10.merge_heads in other styles than the solution's."""

import torch
from torch.nn import functional as F


def by_linear(x, out_weight):
    """Each head through its own columns."""
    pieces = out_weight.chunk(x.shape[1], dim=1)
    return torch.stack([F.linear(part, piece) for part, piece in zip(x.unbind(1), pieces, strict=True)], dim=1)


def number_by_number(x, out_weight):
    B, H, T, d = x.shape
    result = torch.zeros(B, H, T, H * d, dtype=x.dtype)
    for h in range(H):
        for i in range(d):
            result[:, h] += x[:, h, :, i : i + 1] * out_weight[:, h * d + i]
    return result


OWN = [by_linear]
CORRECT = [*OWN, number_by_number]
SIZES = {"D": lambda draw: draw.size("H") * draw.size("d")}
