"""Correct answers to 09.restricted_self_attention in other styles than the solution's."""

from math import log

import torch
from torch.nn import functional as F


def by_the_library(query, key, value, radius, hub):
    place = torch.arange(query.size(1))
    near = torch.cdist(place[:, None].double(), place[:, None].double()) < radius + 0.5
    return F.scaled_dot_product_attention(query, key, value, attn_mask=near | hub[:, None] | hub[..., None])


def place_by_place(query, key, value, radius, hub):
    B, T, D = query.shape
    result = torch.zeros(B, T, value.shape[2])
    for b in range(B):
        for i in range(T):
            places = [j for j in range(T) if abs(i - j) <= radius or hub[b, i] or hub[b, j]]
            scores = [torch.dot(query[b, i], key[b, j]) / D**0.5 for j in places]
            weights = torch.softmax(torch.stack(scores), dim=0)
            result[b, i] = sum(weight * value[b, j] for weight, j in zip(weights, places, strict=True))
    return result


OWN = [by_the_library]
CORRECT = [*OWN, place_by_place]
THREE = [[[1], [1], [1]]], [[[0], [log(3)], [0]]], [[[4], [8], [16]]], 1
WORKED = [((*THREE, [[False] * 3]), "7 8.8 10"), ((*THREE, [[False, False, True]]), "8.8 8.8 8.8")]
INPUTS = {
    "radius": lambda draw: draw.randint(0, 7),
    "hub": lambda draw: draw.between("B×T", 0, 1) < draw.choice([0.0, 0.2, 0.5]),
}
