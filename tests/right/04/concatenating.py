"""Right answers to 04.concatenating in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F

from course_utils.models import attention as reference


def concatenating_in_a_zero_buffer(state, hidden, weight):
    B, T, _ = state.shape
    S = hidden.shape[1]
    scores = torch.zeros((B, T, S))
    for b in range(B):
        for t in range(T):
            for s in range(S):
                pair = torch.cat((state[b, t], hidden[b, s]), dim=0)
                scores[b, t, s] = torch.dot(weight, pair)
    return scores


def concatenating_number_by_number(state, hidden, weight):
    D, E = state.shape[2], hidden.shape[2]
    scores = torch.zeros(state.shape[0], state.shape[1], hidden.shape[1])
    for d in range(D):
        scores += weight[d] * state[:, :, d].unsqueeze(2)
    for e in range(E):
        scores += weight[D + e] * hidden[:, :, e].unsqueeze(1)
    return scores


def concatenating_repeated_pairs(state, hidden, weight):
    T, S = state.shape[1], hidden.shape[1]
    left = state.unsqueeze(2).repeat(1, 1, S, 1)
    right = hidden.unsqueeze(1).repeat(1, T, 1, 1)
    pairs = torch.cat([left, right], dim=3)
    return torch.matmul(pairs, weight)


RIGHT = [
    lambda s, h, w: (s @ w[: s.shape[-1]])[:, :, None] + (h @ w[s.shape[-1] :])[:, None, :],
    lambda s, h, w: torch.stack(
        [torch.stack([torch.stack([torch.cat([a, b]) @ w for b in hs]) for a in ss]) for ss, hs in zip(s, h)]  # noqa: B905
    ),
    lambda s, h, w: (
        torch.einsum("btd,d->bt", s, w[: s.shape[2]]).unsqueeze(2)
        + torch.einsum("bse,e->bs", h, w[s.shape[2] :]).unsqueeze(1)
    ),
    # As beginners write them
    concatenating_in_a_zero_buffer,
    concatenating_number_by_number,
    concatenating_repeated_pairs,
    # In odd styles
    lambda s, h, w: F.linear(reference.pairs(s, h), w[None]).squeeze(-1),
    lambda s, h, w: (lambda a, b: (s @ a)[:, :, None] + (h @ b)[:, None])(*w.split([s.shape[2], h.shape[2]])),
    lambda s, h, w: torch.stack(
        [torch.stack([torch.cat([q.expand(len(k), -1), k], -1) @ w for q in a]) for a, k in zip(s, h, strict=True)]
    ),
]
WORKED = [(([[[1, 2]]], [[[3], [5]]], [1, 2, 10]), "35 55")]
