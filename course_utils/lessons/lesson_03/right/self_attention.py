"""Right answers to 03.self_attention in other styles than the solution's: one matrix for the scores, einsum, loops, the library."""

import torch
from torch.nn import functional as F


def _zeros_where_empty(weights, mask):
    return weights if mask is None else weights.masked_fill(~mask, 0.0)


def values_projected_last(x, weight_q, weight_k, weight_v, mask=None):
    scores = x @ (weight_q @ weight_k.T) @ x.mT  # one matrix of both
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = _zeros_where_empty(scores.softmax(-1), mask)
    return (weights @ x) @ weight_v, weights


def by_einsum(x, weight_q, weight_k, weight_v, mask=None):
    scores = torch.einsum("btd,da,ea,bse->bts", x, weight_q, weight_k, x)
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    weights = _zeros_where_empty(F.softmax(scores, 2), mask)
    return torch.einsum("bts,bsd,de->bte", weights, x, weight_v), weights


def by_the_library(x, weight_q, weight_k, weight_v, mask=None):
    query, key = F.linear(x, weight_q.T), F.linear(x, weight_k.T)
    everybody = torch.eye(x.shape[1], dtype=x.dtype).expand(len(x), -1, -1)  # the values that bring out the weights
    allowed = None if mask is None else mask | ~mask.any(2, keepdim=True)  # PyTorch 2.4 has NaN in rows without a True
    weights = F.scaled_dot_product_attention(query, key, everybody, allowed, scale=1.0)
    weights = _zeros_where_empty(weights, mask)
    return torch.bmm(weights, F.linear(x, weight_v.T)), weights


def word_by_word(x, weight_q, weight_k, weight_v, mask=None):
    contexts, rows = [], []
    for b in range(len(x)):
        for t in range(x.shape[1]):
            query = x[b, t] @ weight_q
            scores = torch.stack([query @ (word @ weight_k) for word in x[b]])
            allowed = torch.ones(x.shape[1], dtype=torch.bool) if mask is None else mask[b, t]
            row = torch.zeros_like(scores)
            if allowed.any():
                row = row.masked_scatter(allowed, scores[allowed].softmax(0))
            rows.append(row)
            contexts.append(sum(weight * (word @ weight_v) for weight, word in zip(row, x[b], strict=True)))
    shape = x.shape[:2]
    return torch.stack(contexts).reshape(*shape, -1), torch.stack(rows).reshape(*shape, -1)


def three_at_once(x, weight_q, weight_k, weight_v, mask=None):
    widths = [weight.shape[1] for weight in (weight_q, weight_k, weight_v)]
    query, key, value = (x @ torch.cat([weight_q, weight_k, weight_v], 1)).split(widths, -1)
    scores = torch.bmm(query, key.transpose(1, 2))
    if mask is not None:
        scores[~mask] = -torch.inf
    weights = _zeros_where_empty(scores.softmax(-1), mask)
    return weights @ value, weights


# PyTorch's own
OWN = [
    by_the_library,
]
RIGHT = [*OWN, values_projected_last, by_einsum, word_by_word, three_at_once]
