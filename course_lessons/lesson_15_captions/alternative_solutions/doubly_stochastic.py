"""Correct answers to 15.doubly_stochastic in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_the_squared_error(weights, mask):
    total = weights.masked_fill(mask.logical_not()[:, :, None], 0).sum(dim=-2)
    return F.mse_loss(total, torch.ones_like(total), reduction="sum") / total.shape[0]


def caption_by_caption(weights, mask):
    B, T, L = weights.shape
    result = 0
    for b in range(B):
        for i in range(L):
            total = sum((weights[b, t, i] for t in range(T) if mask[b, t]), torch.zeros((), dtype=weights.dtype))
            result = result + (1 - total) ** 2
    return result / B


def as_the_formula_stands(weights, mask):
    """As the lesson writes it: what stands where the mask is False is never NaN."""
    return ((1 - (weights * mask[..., None]).sum(1)) ** 2).sum(1).mean()


OWN = [by_the_squared_error]
CORRECT = [*OWN, as_the_formula_stands, caption_by_caption]
WORKED = [
    (([[[1, 0], [0.5, 0.5]]], [[True, True]]), "0.5"),
    (([[[1, 0], [0.5, 0.5]], [[1, 0], [9, 9]]], [[True, True], [True, False]]), "0.75"),
]
