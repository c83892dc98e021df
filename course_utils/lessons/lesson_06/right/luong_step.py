"""Right answers to 06.luong_step in other styles than the solution's: sentence by sentence, einsum, two products, batched products."""

from math import log

import torch
import torch.nn.functional as F

from course_utils.models.attention import masked_softmax


def sentence_by_sentence(state, annotations, mask, weight, weight_c):
    features, weights = [], []
    for s, sentence, real in zip(state, annotations, mask, strict=True):
        words = sentence[real]
        shares = torch.softmax(words @ (weight.T @ s), 0)
        features.append(torch.tanh(weight_c @ torch.cat([shares @ words, s])))
        weights.append(torch.zeros(len(real), dtype=state.dtype).index_put((real.nonzero()[:, 0],), shares))
    return torch.stack(features), torch.stack(weights)


def by_einsum(state, annotations, mask, weight, weight_c):
    clean = torch.where(mask.unsqueeze(-1), annotations, torch.zeros_like(annotations))
    weights = masked_softmax(torch.einsum("bh,he,bse->bs", state, weight, clean), mask)
    context = torch.einsum("bs,bse->be", weights, clean)
    return torch.einsum("bx,dx->bd", torch.cat([context, state], 1), weight_c).tanh(), weights


def two_products_for_the_pair(state, annotations, mask, weight, weight_c):
    E = annotations.shape[-1]
    clean = annotations.masked_fill(~mask[..., None], 0)
    scores = (state[:, None] * F.linear(clean, weight)).sum(-1)
    nothing = ~mask.any(1, keepdim=True)
    weights = F.softmax(scores.masked_fill(~(mask | nothing), float("-inf")), 1).masked_fill(nothing, 0)
    context = (weights[:, None] @ clean)[:, 0]
    return torch.tanh(context @ weight_c[:, :E].T + state @ weight_c[:, E:].T), weights


def by_batched_products(state, annotations, mask, weight, weight_c):
    clean = annotations.clone()
    clean[~mask] = 0
    scores = torch.bmm(clean, (state @ weight).unsqueeze(2)).squeeze(2)
    weights = torch.nan_to_num(scores.masked_fill(mask.logical_not(), -torch.inf).softmax(dim=1))
    context = torch.bmm(weights.unsqueeze(1), clean).squeeze(1)
    return torch.cat((context, state), dim=1).matmul(weight_c.t()).tanh(), weights


def place_by_place(state, annotations, mask, weight, weight_c):
    B, S, E = annotations.shape
    context = torch.zeros(B, E)
    weights = torch.zeros(B, S)
    for b in range(B):
        query = torch.zeros(E)
        for i in range(state.shape[1]):
            query = query + state[b, i] * weight[i]
        places = [j for j in range(S) if mask[b, j]]
        if not places:
            continue
        alpha = torch.softmax(torch.stack([torch.dot(query, annotations[b, j]) for j in places]), dim=0)
        for k, j in enumerate(places):
            weights[b, j] = alpha[k]
            context[b] += alpha[k] * annotations[b, j]
    features = torch.tanh(torch.mm(torch.cat([context, state.float()], dim=1), weight_c.float().T))
    return features, weights


def by_bilinear(state, annotations, mask, weight, weight_c):
    """The score is what nn.Bilinear computes."""
    states = state[:, None].repeat(1, annotations.shape[1], 1)  # B S H
    scores = F.bilinear(states, annotations, weight[None])[..., 0]
    weights = torch.masked.softmax(scores, -1, mask=mask).nan_to_num()
    context = torch.bmm(weights[:, None], annotations)[:, 0]
    return F.linear(torch.cat([context, state], 1), weight_c).tanh(), weights


# PyTorch's own
OWN = [
    by_bilinear,
]
RIGHT = [
    *OWN,
    sentence_by_sentence,
    by_einsum,
    two_products_for_the_pair,
    by_batched_products,
    # As beginners write them
    place_by_place,
]
WORKED = [(([[1]], [[[0], [log(3)]]], [[True, True]], [[1]], [[1, -1]]), "-0.1742 0.25 0.75")]
