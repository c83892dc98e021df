"""Correct answers to 06.bahdanau_step in other styles than the solution's."""

import torch
import torch.nn.functional as F


def place_by_place(state, annotations, mask, weight_s, weight_h, v):
    context, weights = torch.zeros(annotations[:, 0].shape), torch.zeros(mask.shape)
    for b in range(len(state)):
        places = [j for j in range(mask.shape[1]) if mask[b, j]]
        scores = [v @ torch.tanh(weight_s @ state[b] + weight_h @ annotations[b, j]) for j in places]
        alpha = torch.softmax(torch.stack(scores), dim=0) if places else []
        for share, j in zip(alpha, places, strict=True):
            weights[b, j] = share
            context[b] += share * annotations[b, j]
    return context, weights


def by_masked_softmax(state, annotations, mask, weight_s, weight_h, v):
    """PyTorch has no layer with this score: two linear ones, a masked softmax and a batched product make it."""
    layer = (F.linear(state, weight_s)[:, None] + F.linear(annotations, weight_h)).tanh()
    weights = torch.masked.softmax(F.linear(layer, v), -1, mask=mask).nan_to_num()
    return torch.bmm(weights[:, None], annotations)[:, 0], weights


OWN = [by_masked_softmax]
CORRECT = [*OWN, place_by_place]
WORKED = [
    (([[1]], [[[0], [2]]], [[True, True]], [[1]], [[-1]], [1.4425]), "0.2 0.9 0.1"),
    (([[1]], [[[0], [2]]], [[False, True]], [[1]], [[-1]], [1.4425]), "2 0 1"),
]
