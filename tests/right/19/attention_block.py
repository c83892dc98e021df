"""Right answers to 19.attention_block in other styles than the solution's: the library, an added mask, einsum, exponentials, loops."""

import math

import torch
import torch.nn.functional as F

from course_utils.models.attention import causal_mask, masked_softmax


def by_the_library(x, weight_q, weight_k, weight_v):
    read = F.scaled_dot_product_attention(x @ weight_q, x @ weight_k, x @ weight_v, is_causal=True)
    return torch.cat([x, read], dim=2)


def with_an_added_mask(x, weight_q, weight_k, weight_v):
    T, K = x.shape[1], weight_k.shape[1]
    minus = torch.full((T, T), -torch.inf, dtype=x.dtype).triu(diagonal=1)
    scores = torch.einsum("btk,bsk->bts", x @ weight_q, x @ weight_k) * K**-0.5 + minus
    return torch.cat([x, torch.einsum("bts,bse->bte", torch.softmax(scores, -1), x @ weight_v)], -1)


def queries_scaled_first(x, weight_q, weight_k, weight_v):
    query, key = x @ (weight_q / math.sqrt(weight_q.shape[1])), x @ weight_k
    weights = masked_softmax(query @ key.mT, causal_mask(x.shape[1]))
    return torch.cat([x, (weights @ x) @ weight_v], -1)


def one_product_of_both_weights(x, weight_q, weight_k, weight_v):
    """Without queries and keys: x (W_q W_k^T) x^T."""
    scores = x @ (weight_q @ weight_k.T) @ x.mT / weight_q.shape[-1] ** 0.5
    scores = torch.where(torch.ones_like(scores).tril() == 1, scores, -torch.inf)
    return torch.cat([x, scores.softmax(-1) @ (x @ weight_v)], -1)


def exponentials_less_the_largest(x, weight_q, weight_k, weight_v):
    scores = (x @ weight_q) @ (x @ weight_k).transpose(1, 2) / weight_k.shape[1] ** 0.5
    scores = scores.masked_fill(torch.triu(torch.ones_like(scores), 1).bool(), float("-inf"))
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = powers / powers.sum(-1, keepdim=True)
    return torch.cat([x, weights.bmm(x @ weight_v)], dim=-1)


def keys_first(x, weight_q, weight_k, weight_v):
    """Scores with the keys as rows, and the softmax over these."""
    scores = (x @ weight_k) @ (x @ weight_q).mT / weight_k.shape[1] ** 0.5
    weights = scores.masked_fill(torch.ones_like(scores).tril(-1).bool(), -torch.inf).softmax(1)
    return torch.cat([x, weights.mT @ (x @ weight_v)], -1)


def in_place_on_a_copy(x, weight_q, weight_k, weight_v):
    (B, T, D), E = x.shape, weight_v.shape[1]
    block = torch.zeros(B, T, D + E, dtype=x.dtype)
    block[..., :D] = x
    for t in range(T):
        scores = ((x[:, t] @ weight_q)[:, None] * (x[:, : t + 1] @ weight_k)).sum(-1) / weight_q.shape[1] ** 0.5
        block[:, t, D:] = (scores.softmax(1)[:, None] @ (x[:, : t + 1] @ weight_v))[:, 0]
    return block


def as_beginners_write(x, weight_q, weight_k, weight_v):
    sequences = []
    for sequence in x:
        rows = []
        for t in range(len(sequence)):
            query = sequence[t] @ weight_q
            scores = []
            for s in range(t + 1):
                key = sequence[s] @ weight_k
                scores.append(query @ key / math.sqrt(len(key)))
            weights = torch.softmax(torch.stack(scores), dim=0)
            read = 0
            for s in range(t + 1):
                read = read + weights[s] * (sequence[s] @ weight_v)
            rows.append(torch.cat([sequence[t], read]))
        sequences.append(torch.stack(rows))
    return torch.stack(sequences)


# PyTorch's own
OWN = [
    by_the_library,
]
RIGHT = [
    *OWN,
    with_an_added_mask,
    queries_scaled_first,
    one_product_of_both_weights,
    exponentials_less_the_largest,
    keys_first,
    in_place_on_a_copy,
    # As beginners write them
    as_beginners_write,
]
WORKED = [(([[[1], [3]]], [[math.log(3)]], [[0.5]], [[4]]), "1 4 3 11.7143")]
