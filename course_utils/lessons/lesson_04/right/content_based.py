"""Right answers to 04.content_based in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F
from torch import nn


def cosine_in_a_zero_buffer(state, hidden):
    B, T, _ = state.shape
    S = hidden.shape[1]
    scores = torch.zeros(B, T, S)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                length = torch.norm(state[b, t]) * torch.norm(hidden[b, s])
                if length > 0:
                    scores[b, t, s] = torch.dot(state[b, t], hidden[b, s]) / length
    return scores


def cosine_by_a_helper_with_early_return(state, hidden):
    def cosine(x, y):
        if torch.all(x == 0) or torch.all(y == 0):
            return torch.tensor(0.0)
        return (x * y).sum() / (torch.sqrt((x * x).sum()) * torch.sqrt((y * y).sum()))

    return torch.stack(
        [torch.stack([torch.stack([cosine(s, h) for h in hidden[b]]) for s in state[b]]) for b in range(len(state))]
    )


def cosine_with_zero_lengths_set_to_one(state, hidden):
    state_lengths = torch.norm(state, dim=2)
    hidden_lengths = torch.norm(hidden, dim=2)
    state_lengths = state_lengths + (state_lengths == 0).float()
    hidden_lengths = hidden_lengths + (hidden_lengths == 0).float()
    products = torch.einsum("btd,bsd->bts", state, hidden)
    return products / (state_lengths.unsqueeze(2) * hidden_lengths.unsqueeze(1))


# PyTorch's own
OWN = [
    lambda s, h: F.cosine_similarity(s.unsqueeze(2), h.unsqueeze(1), dim=-1),
    lambda s, h: nn.CosineSimilarity(dim=-1)(s[:, :, None], h[:, None]),
]
RIGHT = [
    *OWN,
    lambda s, h: s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None] + 1e-8),
    lambda s, h: torch.nan_to_num((s / s.norm(dim=-1, keepdim=True)) @ (h / h.norm(dim=-1, keepdim=True)).mT),
    lambda s, h: (s @ h.mT) / (s.norm(dim=-1)[:, :, None] * h.norm(dim=-1)[:, None]).clamp(min=1e-6),
    # As beginners write them
    cosine_in_a_zero_buffer,
    cosine_by_a_helper_with_early_return,
    cosine_with_zero_lengths_set_to_one,
    # In odd styles
    lambda s, h: torch.where(
        (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None]) > 0,
        s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None]).clamp_min(1e-12),
        0.0,
    ),
    lambda s, h: s @ h.mT * torch.rsqrt(s.square().sum(-1)[..., None] * h.square().sum(-1)[:, None] + 1e-12),
    lambda s, h: (s / (s.norm(dim=-1, keepdim=True) + 1e-7)) @ (h / (h.norm(dim=-1, keepdim=True) + 1e-7)).mT,
]
WORKED = [(([[[2, 0]]], [[[3, 4], [0, 0]]]), "0.6 0")]
