"""Right answers to 02.several_attentions in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

from math import log

import torch
import torch.nn.functional as F

from course_utils.models import attention as reference
from course_utils.models.attention import masked_softmax as reference_masked_softmax


def several_by_loops(words, thetas, mask):
    rows = []
    for x, m in zip(words, mask, strict=True):
        parts = []
        for theta in thetas:
            w = torch.zeros_like(x[:, 0])
            if m.any():
                w = w.masked_scatter(m, (x[m] @ theta).softmax(0))
            parts.append(w @ x)
        rows.append(torch.cat(parts))
    return torch.stack(rows)


def several_in_a_zero_buffer(words, thetas, mask):
    B, S, D = words.shape
    N = len(thetas)
    result = torch.zeros(B, N * D)
    for b in range(B):
        for n in range(N):
            scores = torch.zeros(S)
            for s in range(S):
                scores[s] = torch.dot(words[b, s], thetas[n])
            weights = reference_masked_softmax(scores, mask[b])
            for s in range(S):
                result[b, n * D : (n + 1) * D] += weights[s] * words[b, s]
    return result


def several_by_a_list_of_contexts(words, thetas, mask):
    contexts = []
    for n in range(len(thetas)):
        scores = torch.matmul(words, thetas[n])
        weights = reference_masked_softmax(scores, mask)
        context = torch.zeros(words.shape[0], words.shape[2])
        for s in range(words.shape[1]):
            context += weights[:, s].unsqueeze(1) * words[:, s]
        contexts.append(context)
    return torch.cat(contexts, dim=1)


def several_by_float_mask_and_einsum(words, thetas, mask):
    scores = torch.einsum("bsd,nd->bns", words, thetas)
    m = mask.float().unsqueeze(1)
    lowered = scores - (1 - m) * 1e9
    weights = torch.softmax(lowered, dim=2) * m
    contexts = torch.einsum("bns,bsd->bnd", weights, words)
    return contexts.reshape(words.shape[0], thetas.shape[0] * words.shape[2])


def several_with_a_helper_for_one(words, thetas, mask):
    def one_attention(sentence, theta, allowed):
        context = torch.zeros(len(theta))
        if allowed.sum() == 0:
            return context
        weights = torch.softmax(sentence[allowed] @ theta, dim=0)
        for weight, word in zip(weights, sentence[allowed], strict=True):
            context += weight * word
        return context

    rows = []
    for b in range(len(words)):
        rows.append(torch.cat([one_attention(words[b], theta, mask[b]) for theta in thetas]))
    return torch.stack(rows)


def soft(scores, mask):
    return torch.nan_to_num(scores.masked_fill(~mask, -torch.inf).softmax(-1))


def several_by_scaled_dot_product_attention(words, thetas, mask):
    nothing = ~mask.any(1)[:, None, None]  # B 1 1: before torch 2.5 a row without True is NaN
    query = thetas.expand(len(words), -1, -1)
    contexts = F.scaled_dot_product_attention(query, words, words, mask[:, None] | nothing, scale=1.0)
    return contexts.masked_fill(nothing, 0.0).flatten(1)


# PyTorch's own
OWN = [
    several_by_scaled_dot_product_attention,
]
RIGHT = [
    *OWN,
    several_by_loops,
    lambda x, th, m: torch.cat([(reference.masked_softmax(x @ t, m)[..., None] * x).sum(1) for t in th], -1),
    lambda x, th, m: torch.einsum(
        "bsn,bsd->bnd", torch.nan_to_num((x @ th.T).masked_fill(~m[..., None], -torch.inf).softmax(1)), x
    ).reshape(len(x), -1),
    lambda x, th, m: reference.attention(th.expand(len(x), -1, -1), x, x, m[:, None].expand(-1, len(th), -1))[
        0
    ].flatten(1),
    # As beginners write them
    several_in_a_zero_buffer,
    several_by_a_list_of_contexts,
    several_by_float_mask_and_einsum,
    several_with_a_helper_for_one,
    # In odd styles
    lambda x, th, m: torch.hstack([(soft(x @ t, m)[:, None] @ x)[:, 0] for t in th]),
    lambda x, th, m: (soft((x @ th.T).mT, m[:, None].expand(-1, len(th), -1)) @ x).reshape(x.shape[0], -1),
    lambda x, th, m: reference.attention(th.repeat(len(x), 1, 1), x, x, m[:, None])[0].flatten(1),
    lambda x, th, m: torch.cat(torch.vmap(lambda t: (soft(x @ t, m)[..., None] * x).sum(1))(th).unbind(0), -1),
    lambda x, th, m: torch.stack(
        [
            F.scaled_dot_product_attention(th, s[k], s[k], scale=1.0).flatten()
            if k.any()
            else s.sum() * th.flatten() * 0
            for s, k in zip(x, m, strict=True)
        ]
    ),
]
WORKED = [(([[[1, 0], [0, 2]]], [[0, 0], [log(3), 0]], [[True, True]]), "0.5 1 0.75 0.5")]
