"""Right answers to 04.scaled_dot in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import math

import numpy as np
import torch


def scaled_in_a_zero_buffer(state, hidden):
    B, T, D = state.shape
    S = hidden.shape[1]
    scores = torch.zeros(B, T, S)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                scores[b, t, s] = torch.dot(state[b, t], hidden[b, s]) / np.sqrt(D)
    return scores


def scaled_by_a_buffer_divided_at_the_end(state, hidden):
    D = state.shape[2]
    total = torch.zeros(state.shape[0], state.shape[1], hidden.shape[1])
    for d in range(D):
        total += state[:, :, d].unsqueeze(2) * hidden[:, :, d].unsqueeze(1)
    total /= math.sqrt(D)
    return total


def scaled_by_lists_of_rows(state, hidden):
    width = torch.tensor(float(state.shape[-1]))
    sentences = []
    for states, hiddens in zip(state, hidden, strict=True):
        rows = []
        for s in states:
            rows.append(torch.stack([(s * h).sum() / torch.sqrt(width) for h in hiddens]))
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)


RIGHT = [
    lambda s, h: (s / math.sqrt(s.size(-1))) @ h.mT,
    lambda s, h: (s * s.shape[-1] ** -0.25) @ (h * h.shape[-1] ** -0.25).mT,
    lambda s, h: torch.bmm(s, h.transpose(-1, -2)) / torch.sqrt(torch.tensor(s.shape[-1])),
    lambda s, h: torch.einsum("btd,bsd->bts", s, h) / np.sqrt(h.shape[2]),
    # As beginners write them
    scaled_in_a_zero_buffer,
    scaled_by_a_buffer_divided_at_the_end,
    scaled_by_lists_of_rows,
    # In odd styles
    lambda s, h: torch.baddbmm(s.new_zeros(1, 1, 1), s, h.mT, beta=0, alpha=s.shape[-1] ** -0.5),
    lambda s, h: (s[:, :, None] * h[:, None]).sum(-1).mul(torch.rsqrt(torch.tensor(float(s.shape[-1])))),
    lambda s, h: (s[:, :, None] * h[:, None]).mean(-1) * s.shape[-1] ** 0.5,
    lambda s, h: (s @ h.mT).div_(math.sqrt(s.shape[-1])),
]
WORKED = [(([[[1, 1, 1, 1]]], [[[2, 0, 4, 2]]]), "4")]
