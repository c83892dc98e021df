"""Correct answers to 03.attention in other styles than the solution's."""

import collections
from math import log

import torch
import torch.nn.functional as F

from course_utils.models import attention as reference


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


# PyTorch's own
OWN = [
    attention_by_library,
]
CORRECT = [
    *OWN,
    attention_in_float64,
    # As beginners write them
    attention_in_zero_buffers,
    attention_with_a_mask_of_ones,
    # In odd styles
    attention_from_parts,
]
WORKED = [
    (([[[1, 1]]], [[[log(3), 0], [0, 0]]], [[[4], [8]]]), "5 0.75 0.25"),
    (([[[1, 1]]], [[[log(3), 0], [0, 0]]], [[[4], [8]]], [[[False, True]]]), "8 0 1"),
]
