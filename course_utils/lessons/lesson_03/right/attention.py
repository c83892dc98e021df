"""Right answers to 03.attention in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import collections
from math import log

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.models import attention as reference


class Attention(nn.Module):
    def forward(self, a, b, c, d=None):
        scores = torch.bmm(a, b.permute(0, 2, 1))
        weights = F.softmax(scores if d is None else scores.masked_fill(d == 0, float("-inf")), dim=-1)
        weights = torch.where(torch.isnan(weights), torch.zeros_like(weights), weights)
        return torch.bmm(weights, c), weights


def attention_by_loops(query, key, value, mask=None):
    B, T, _ = query.shape
    S, E = key.shape[1], value.shape[2]
    weights, context = torch.zeros(B, T, S, dtype=query.dtype), torch.zeros(B, T, E, dtype=query.dtype)
    for b in range(B):
        for t in range(T):
            keep = [s for s in range(S) if mask is None or mask[b, t, s]]
            if not keep:
                continue
            w = torch.stack([query[b, t] @ key[b, s] for s in keep]).softmax(0)
            for i, s in enumerate(keep):
                weights[b, t, s] = w[i]
                context[b, t] = context[b, t] + w[i] * value[b, s]
    return context, weights


def attention_by_einsum(q, k, v, m=None):
    scores = torch.einsum("btd,bsd->bts", q, k)
    if m is not None:
        scores = scores + (~m).to(scores.dtype) * torch.finfo(scores.dtype).min / 2
    w = torch.softmax(scores, 2)
    w = w if m is None else w * m
    return torch.einsum("bts,bse->bte", w, v), w


def attention_in_float64(query, key, value, mask=None):
    c, w = reference.attention(query.double(), key.double(), value.double(), mask)
    return [c.to(query.dtype), w.to(query.dtype)]


def attention_in_zero_buffers(query, key, value, mask=None):
    B, T, D = query.shape
    S, E = value.shape[1], value.shape[2]
    weights = torch.zeros(B, T, S)
    context = torch.zeros(B, T, E)
    for b in range(B):
        for t in range(T):
            allowed = []
            scores = []
            for s in range(S):
                if mask is None or mask[b, t, s]:
                    score = torch.tensor(0.0)
                    for d in range(D):
                        score += query[b, t, d] * key[b, s, d]
                    allowed.append(s)
                    scores.append(score)
            if len(allowed) == 0:
                continue
            highest = max(scores)
            total = torch.tensor(0.0)
            for score in scores:
                total += torch.exp(score - highest)
            for s, score in zip(allowed, scores, strict=True):
                weight = torch.exp(score - highest) / total
                weights[b, t, s] = weight
                context[b, t] += weight * value[b, s]
    return context, weights


def attention_with_a_float_mask(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(1, 2))
    if mask is None:
        weights = torch.softmax(scores, dim=2)
        return torch.matmul(weights, value), weights
    m = mask.float()
    weights = torch.softmax(scores - 1e9 * (1 - m), dim=2)
    weights = weights * m
    return torch.matmul(weights, value), weights


def attention_with_a_mask_of_ones(query, key, value, mask=None):
    if mask is None:
        mask = torch.ones(query.shape[0], query.shape[1], key.shape[1])
    m = mask.float()
    scores = torch.einsum("btd,bsd->bts", query, key)
    lowest = torch.full(scores.shape, -1e9)
    scores = torch.where(m == 1, scores, lowest)
    exponentials = torch.exp(scores - scores.max(dim=-1, keepdim=True).values) * m
    total = exponentials.sum(dim=-1, keepdim=True)
    total = torch.where(total == 0, torch.ones(total.shape), total)
    weights = exponentials / total
    context = torch.zeros(query.shape[0], query.shape[1], value.shape[2])
    for s in range(key.shape[1]):
        context += weights[:, :, s : s + 1] * value[:, s : s + 1]
    return context, weights


def attention_by_lists_of_rows(query, key, value, mask=None):
    def weights_of_one(q, keys, allowed):
        if allowed is None:
            return torch.softmax(torch.stack([torch.dot(q, k) for k in keys]), dim=0)
        row = torch.zeros(len(keys))
        if not allowed.any():
            return row
        row[allowed] = torch.softmax(keys[allowed] @ q, dim=0)
        return row

    all_weights = []
    all_contexts = []
    for b in range(len(query)):
        rows = []
        for t in range(len(query[b])):
            allowed = None if mask is None else mask[b, t]
            rows.append(weights_of_one(query[b, t], key[b], allowed))
        rows = torch.stack(rows)
        all_weights.append(rows)
        all_contexts.append(torch.matmul(rows, value[b]))
    return torch.stack(all_contexts), torch.stack(all_weights)


def soft(scores, mask=None):
    return torch.nan_to_num((scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1))


def attention(q, k, v, m=None):
    w = soft(q @ k.mT, m)
    return w @ v, w


def attention_by_library(query, key, value, mask=None):
    eye = torch.eye(key.shape[1], dtype=value.dtype).expand(len(key), -1, -1)
    both = torch.cat([value, eye], -1)
    some = None if mask is None else mask.any(-1, keepdim=True)
    allowed = None if mask is None else mask | ~some  # before torch 2.5 a row without True has a NaN gradient
    out = F.scaled_dot_product_attention(query, key, both, attn_mask=allowed, scale=1.0)
    if mask is not None:
        out = torch.where(some, out, 0.0)
    return out.split([value.shape[-1], key.shape[1]], -1)


def attention_from_parts(query, key, value, *masks):
    Result = collections.namedtuple("Result", "context weights")
    (mask,) = masks or (None,)
    weights = reference.masked_softmax(reference.dot(query, key), mask)
    return Result(torch.bmm(weights, value), weights)


def attention_by_vmap(q, k, v, m=None):
    m = torch.ones(q.shape[0], q.shape[1], k.shape[1], dtype=torch.bool) if m is None else m

    def one(q, k, v, m):
        w = torch.where(m, (q @ k.T).masked_fill(~m, -torch.inf).softmax(-1), 0.0)
        return w @ v, w

    return torch.vmap(one)(q, k, v, m)


# PyTorch's own
OWN = [
    attention_by_library,
]
RIGHT = [
    *OWN,
    attention_by_loops,
    attention_by_einsum,
    attention_in_float64,
    Attention(),
    # As beginners write them
    attention_in_zero_buffers,
    attention_with_a_float_mask,
    attention_with_a_mask_of_ones,
    attention_by_lists_of_rows,
    # In odd styles
    attention_from_parts,
    attention_by_vmap,
    lambda q, k, v, m=None: list(attention(q, k, v, m)),
    lambda *a: reference.attention(*a),
    lambda q, k, v, mask=None: (lambda w: (torch.einsum("bts,bse->bte", w, v), w))(
        soft(torch.einsum("btd,bsd->bts", q, k), mask)
    ),
    lambda q, k, v, mask=None: tuple(
        torch.stack(p)
        for p in zip(
            *(attention(*x, None if mask is None else mask[i]) for i, x in enumerate(zip(q, k, v, strict=True))),
            strict=True,
        )
    ),
]
WORKED = [
    (([[[1, 1]]], [[[log(3), 0], [0, 0]]], [[[4], [8]]]), "5 0.75 0.25"),
    (([[[1, 1]]], [[[log(3), 0], [0, 0]]], [[[4], [8]]], [[[False, True]]]), "8 0 1"),
]
