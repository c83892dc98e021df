"""Right answers to 04.additive in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.models import attention as reference


def additive_in_a_zero_buffer(state, hidden, weight, v):
    B, T, _ = state.shape
    S = hidden.shape[1]
    scores = torch.zeros(B, T, S)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                pair = torch.cat([state[b, t], hidden[b, s]])
                layer = torch.tanh(torch.matmul(weight, pair))
                scores[b, t, s] = torch.dot(v, layer)
    return scores


def additive_pairs_in_a_zero_buffer(state, hidden, weight, v):
    B, T, D = state.shape
    S, E = hidden.shape[1], hidden.shape[2]
    pairs = torch.zeros(B, T, S, D + E)
    for t in range(T):
        for s in range(S):
            pairs[:, t, s, :D] = state[:, t]
            pairs[:, t, s, D:] = hidden[:, s]
    return (torch.tanh(torch.matmul(pairs, weight.T)) * v).sum(dim=3)


def additive_unit_by_unit(state, hidden, weight, v):
    D = state.shape[2]
    total = torch.zeros(state.shape[0], state.shape[1], hidden.shape[1])
    for a in range(len(v)):
        from_state = (state * weight[a, :D]).sum(dim=2)
        from_hidden = (hidden * weight[a, D:]).sum(dim=2)
        total += v[a] * torch.tanh(from_state[:, :, None] + from_hidden[:, None, :])
    return total


class Additive(nn.Module):
    """Weights are the arguments; the module holds nothing."""

    def forward(self, *args):
        state, hidden, weight, v = args
        return F.linear(torch.tanh(F.linear(reference.pairs(state, hidden), weight)), v.unsqueeze(0)).squeeze(-1)


RIGHT = [
    lambda s, h, W, v: torch.stack(
        [
            torch.stack([torch.tanh(torch.cat([a.expand(len(hs), -1), hs], 1) @ W.T) @ v for a in ss])
            for ss, hs in zip(s, h)  # noqa: B905
        ]
    ),
    lambda s, h, W, v: reference.perceptron(s, h, W[:, : s.shape[2]], W[:, s.shape[2] :], v),
    lambda s, h, W, v: torch.einsum(
        "btsa,a->bts",
        torch.tanh(
            F.linear(
                torch.cat([s[:, :, None].repeat(1, 1, h.shape[1], 1), h[:, None].repeat(1, s.shape[1], 1, 1)], 3), W
            )
        ),
        v,
    ),
    # As beginners write them
    additive_in_a_zero_buffer,
    additive_pairs_in_a_zero_buffer,
    additive_unit_by_unit,
    # In odd styles
    Additive(),
    lambda s, h, W, v: torch.tanh(torch.einsum("btsp,ap->btsa", reference.pairs(s, h), W)).matmul(v),
    lambda s, h, W, v: torch.tanh((s @ W.T[: s.shape[2]]).unsqueeze(2) + (h @ W.T[s.shape[2] :]).unsqueeze(1)) @ v,
    lambda s, h, W, v: (2 * torch.sigmoid(2 * (reference.pairs(s, h) @ W.T)) - 1) @ v,
]
WORKED = [(([[[1]]], [[[2]]], [[1, 1], [2, -1]], [1, 3]), "0.9951")]
