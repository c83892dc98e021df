"""Right answers to 03.attention in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

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


RIGHT = [
    attention_by_loops,
    attention_by_einsum,
    attention_in_float64,
    Attention(),
    # As beginners write them
    attention_in_zero_buffers,
    attention_with_a_float_mask,
    attention_with_a_mask_of_ones,
    attention_by_lists_of_rows,
]
WORKED = [
    (([[[1, 1]]], [[[log(3), 0], [0, 0]]], [[[4], [8]]]), "5 0.75 0.25"),
    (([[[1, 1]]], [[[log(3), 0], [0, 0]]], [[[4], [8]]], [[[False, True]]]), "8 0 1"),
]
