"""Correct answers to 03.self_attention in other styles than the solution's."""

import torch
from torch.nn import functional as F


def _zeros_where_empty(weights, mask):
    return weights if mask is None else weights.masked_fill(~mask, 0.0)


def by_the_library(x, weight_q, weight_k, weight_v, mask=None):
    query, key = F.linear(x, weight_q.T), F.linear(x, weight_k.T)
    everybody = torch.eye(x.shape[1], dtype=x.dtype).expand(len(x), -1, -1)  # the values that bring out the weights
    allowed = None if mask is None else mask | ~mask.any(2, keepdim=True)  # PyTorch 2.4 has NaN in rows without a True
    weights = F.scaled_dot_product_attention(query, key, everybody, allowed, scale=1.0)
    weights = _zeros_where_empty(weights, mask)
    return torch.bmm(weights, F.linear(x, weight_v.T)), weights


def three_at_once(x, weight_q, weight_k, weight_v, mask=None):
    widths = [weight.shape[1] for weight in (weight_q, weight_k, weight_v)]
    query, key, value = (x @ torch.cat([weight_q, weight_k, weight_v], 1)).split(widths, -1)
    scores = torch.bmm(query, key.transpose(1, 2))
    if mask is not None:
        scores[~mask] = -torch.inf
    weights = _zeros_where_empty(scores.softmax(-1), mask)
    return weights @ value, weights


OWN = [by_the_library]
CORRECT = [*OWN, three_at_once]
