"""Right answers to 10.merge_heads in other styles than the solution's: linear, einsum, all heads but one switched off, loops."""

import torch
from torch.nn import functional as F


def by_linear(x, out_weight):
    """Each head through its own columns."""
    pieces = out_weight.chunk(x.shape[1], dim=1)
    return torch.stack([F.linear(part, piece) for part, piece in zip(x.unbind(1), pieces, strict=True)], dim=1)


def by_einsum(x, out_weight):
    return torch.einsum("bhtd,Dhd->bhtD", x, out_weight.view(len(out_weight), x.shape[1], -1))


def others_switched_off(x, out_weight):
    """The whole projection, with zeros for all heads but one."""
    shares = []
    for head in range(x.shape[1]):
        alone = torch.zeros_like(x)
        alone[:, head] = x[:, head]
        shares.append(alone.transpose(1, 2).flatten(2) @ out_weight.T)
    return torch.stack(shares, 1)


def by_rows_of_the_transposed(x, out_weight):
    B, H, T, d = x.shape
    return torch.matmul(x, out_weight.T.reshape(H, d, H * d))


def number_by_number(x, out_weight):
    B, H, T, d = x.shape
    result = torch.zeros(B, H, T, H * d, dtype=x.dtype)
    for h in range(H):
        for i in range(d):
            result[:, h] += x[:, h, :, i : i + 1] * out_weight[:, h * d + i]
    return result


# PyTorch's own
OWN = [
    by_linear,
]
RIGHT = [
    *OWN,
    by_einsum,
    others_switched_off,
    by_rows_of_the_transposed,
    # As beginners write them
    number_by_number,
]
SIZES = {"D": lambda draw: draw.size("H") * draw.size("d")}
