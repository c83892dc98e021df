"""Correct answers to 09.self_attention in other styles than the solution's."""

from math import log

import torch
from torch.nn import functional as F


def _without_padding(x, mask):
    if mask is None:
        return x, torch.ones(*x.shape[:2], x.shape[1], dtype=torch.bool)
    takes_part = mask.any(1) + mask.any(2)
    return torch.where(takes_part.unsqueeze(2), x, torch.zeros_like(x)), mask


def one_matrix_of_both(x, weight_q, weight_k, weight_v, mask=None):
    x, mask = _without_padding(x, mask)
    both = weight_q @ weight_k.T / weight_q.shape[1] ** 0.5
    weights = (x @ both @ x.mT).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()
    return (weights @ x) @ weight_v


def by_the_library(x, weight_q, weight_k, weight_v, mask=None):
    x, kept = _without_padding(x, mask)
    nothing = ~kept.any(2, keepdim=True)
    query, key, value = (F.linear(x, weight.T) for weight in (weight_q, weight_k, weight_v))
    context = F.scaled_dot_product_attention(query, key, value, kept | nothing)
    return context.masked_fill(nothing, 0.0)


def word_by_word(x, weight_q, weight_k, weight_v, mask=None):
    B, T, D = x.shape
    d, E = weight_k.shape[1], weight_v.shape[1]
    result = torch.zeros(B, T, E, dtype=x.dtype)
    for b in range(B):
        for t in range(T):
            places = [s for s in range(T) if mask is None or mask[b, t, s]]
            if len(places) == 0:
                continue
            q = x[b, t] @ weight_q
            scores = torch.stack([torch.dot(q, x[b, s] @ weight_k) / d**0.5 for s in places])
            weights = torch.softmax(scores, dim=0)
            for weight, s in zip(weights, places, strict=True):
                result[b, t] += weight * (x[b, s] @ weight_v)
    return result


def by_the_library_alone(x, weight_q, weight_k, weight_v, mask=None):
    return F.scaled_dot_product_attention(x @ weight_q, x @ weight_k, x @ weight_v, mask)


# PyTorch's own
OWN = [
    # As the lesson writes it: what stands where the mask is False is never NaN. PyTorch 2.4 has NaN in rows without a True.
    *([by_the_library_alone] if torch.__version__ >= "2.5" else []),
    by_the_library,
]
CORRECT = [
    *OWN,
    one_matrix_of_both,
    # As beginners write them
    word_by_word,
]
WORKED = [
    (([[[1, 0], [0, 1]]], [[2], [0]], [[0], [log(3)]], [[4], [8]]), "7.6 6"),
    (([[[1, 0], [0, 1]]], [[2], [0]], [[0], [log(3)]], [[4], [8]], [[[True, True], [False, False]]]), "7.6 0"),
]
