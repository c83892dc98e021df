"""Right answers to 09.restricted_self_attention in other styles than the solution's: slices, a band, windows, the library, loops."""

from math import log

import torch
from torch.nn import functional as F


def by_slices(query, key, value, radius):
    contexts = []
    for i in range(query.shape[1]):
        near = slice(max(0, i - radius), i + radius + 1)
        scores = query[:, i : i + 1] @ key[:, near].mT / query.shape[-1] ** 0.5
        contexts.append(scores.softmax(-1) @ value[:, near])
    return torch.cat(contexts, dim=1)


def by_a_band(query, key, value, radius):
    T = key.shape[1]
    band = torch.ones(T, T, dtype=torch.bool).tril(radius).triu(-radius)
    scores = torch.einsum("bid,bjd->bij", query, key).div(query.shape[2] ** 0.5)
    return torch.einsum("bij,bje->bie", torch.where(band, scores, -torch.inf).softmax(2), value)


def by_windows(query, key, value, radius):
    """Computes the scores in reach alone: B×T×W."""
    T = query.shape[1]
    radius = min(radius, T - 1)
    place = torch.arange(T)[:, None] + torch.arange(-radius, radius + 1)  # T W
    inside = (place >= 0) & (place < T)
    place = place.clamp(0, T - 1)
    scores = (query.unsqueeze(2) * key[:, place]).sum(-1) * query.shape[-1] ** -0.5  # B T W
    weights = F.softmax(scores.masked_fill(~inside, float("-inf")), dim=-1)
    return (weights.unsqueeze(-1) * value[:, place]).sum(2)


def by_the_library(query, key, value, radius):
    place = torch.arange(query.size(1))
    near = torch.cdist(place[:, None].double(), place[:, None].double()) < radius + 0.5
    return F.scaled_dot_product_attention(query, key, value, attn_mask=near)


def place_by_place(query, key, value, radius):
    B, T, D = query.shape
    result = []
    for b in range(B):
        rows = []
        for i in range(T):
            scores = []
            values = []
            for j in range(T):
                if abs(i - j) <= radius:
                    scores.append(torch.dot(query[b, i], key[b, j]) / D**0.5)
                    values.append(value[b, j])
            weights = torch.softmax(torch.stack(scores), dim=0)
            rows.append(sum(w * v for w, v in zip(weights, values, strict=True)))
        result.append(torch.stack(rows))
    return torch.stack(result)


# PyTorch's own
OWN = [
    by_the_library,
]
RIGHT = [
    *OWN,
    by_slices,
    by_a_band,
    by_windows,
    # As beginners write them
    place_by_place,
]
WORKED = [(([[[1], [1], [1]]], [[[0], [log(3)], [0]]], [[[4], [8], [16]]], 1), "7 8.8 10")]
INPUTS = {"radius": lambda draw: draw.randint(0, 7)}
