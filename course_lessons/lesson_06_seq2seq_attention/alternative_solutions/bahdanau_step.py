"""Correct answers to 06.bahdanau_step in other styles than the solution's."""

import torch
import torch.nn.functional as F


def place_by_place(state, annotations, mask, weight_s, weight_h, v):
    B, S, E = annotations.shape
    context = torch.zeros(B, E)
    weights = torch.zeros(B, S)
    for b in range(B):
        places = [j for j in range(S) if mask[b, j]]
        if not places:
            continue
        scores = []
        for j in places:
            hidden = torch.tanh(torch.mv(weight_s, state[b]) + torch.mv(weight_h, annotations[b, j]))
            scores.append(torch.dot(v, hidden))
        alpha = torch.softmax(torch.stack(scores), dim=0)
        for k, j in enumerate(places):
            weights[b, j] = alpha[k]
            context[b] += alpha[k] * annotations[b, j]
    return context, weights


def by_masked_softmax(state, annotations, mask, weight_s, weight_h, v):
    """PyTorch has no layer with this score: two linear ones, a masked softmax and a batched product make it."""
    layer = (F.linear(state, weight_s)[:, None] + F.linear(annotations, weight_h)).tanh()
    weights = torch.masked.softmax(F.linear(layer, v), -1, mask=mask).nan_to_num()
    return torch.bmm(weights[:, None], annotations)[:, 0], weights


# PyTorch's own
OWN = [
    by_masked_softmax,
]
CORRECT = [
    *OWN,
    # As beginners write them
    place_by_place,
]
WORKED = [
    (([[1]], [[[0], [2]]], [[True, True]], [[1]], [[-1]], [1.4425]), "0.2 0.9 0.1"),
    (([[1]], [[[0], [2]]], [[False, True]], [[1]], [[-1]], [1.4425]), "2 0 1"),
]
