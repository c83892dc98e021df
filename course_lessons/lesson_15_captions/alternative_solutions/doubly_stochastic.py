"""Correct answers to 15.doubly_stochastic in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_the_squared_error(weights, mask):
    total = weights.masked_fill(mask.logical_not()[:, :, None], 0).sum(dim=-2)
    return F.mse_loss(total, torch.ones_like(total), reduction="sum") / total.shape[0]


def by_einsum_of_copies(weights, mask):
    """NaN is taken out first, then the mask is a factor."""
    clean = torch.where(mask[..., None], weights, 0.0)
    total = torch.einsum("btl,bt->bl", clean, mask.to(weights.dtype))
    missing = 1 - total
    return torch.einsum("bl,bl->", missing, missing) / len(weights)


def without_nan(weights, mask):
    """nan_to_num passes no gradient where it has put a number in, and the rest is multiplied by 0."""
    kept = weights.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0) * mask[..., None]
    return (kept.sum(1) - 1).pow(2).sum(1).mean()


def caption_by_caption(weights, mask):
    B, T, L = weights.shape
    result = 0
    for b in range(B):
        for i in range(L):
            total = torch.zeros((), dtype=weights.dtype)
            for t in range(T):
                if mask[b, t]:
                    total = total + weights[b, t, i]
            result = result + (1 - total) ** 2
    return result / B


def as_the_formula_stands(weights, mask):
    return ((1 - (weights * mask[..., None]).sum(1)) ** 2).sum(1).mean()


# PyTorch's own
OWN = [
    by_the_squared_error,
]
CORRECT = [
    *OWN,
    # As the lesson writes it: what stands where the mask is False is never NaN
    as_the_formula_stands,
    by_einsum_of_copies,
    without_nan,
    # As beginners write them
    caption_by_caption,
]
WORKED = [
    (([[[1, 0], [0.5, 0.5]]], [[True, True]]), "0.5"),
    (([[[1, 0], [0.5, 0.5]], [[1, 0], [9, 9]]], [[True, True], [True, False]]), "0.75"),
]
