"""Right answers to 04.perceptron in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F

from course_utils.models import attention as reference


def perceptron_in_a_zero_buffer(state, hidden, weight_s, weight_h, v):
    B, T, _ = state.shape
    S = hidden.shape[1]
    scores = torch.zeros(B, T, S)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                layer = torch.tanh(torch.matmul(weight_s, state[b, t]) + torch.matmul(weight_h, hidden[b, s]))
                scores[b, t, s] = (v * layer).sum()
    return scores


def perceptron_unit_by_unit(state, hidden, weight_s, weight_h, v):
    scores = torch.zeros(state.shape[0], state.shape[1], hidden.shape[1])
    for a in range(len(v)):
        left = torch.matmul(state, weight_s[a])
        right = torch.matmul(hidden, weight_h[a])
        scores += v[a] * torch.tanh(left.unsqueeze(2) + right.unsqueeze(1))
    return scores


def perceptron_by_lists_of_rows(state, hidden, weight_s, weight_h, v):
    def score(s, h):
        total = torch.tensor(0.0)
        for a in range(len(v)):
            total = total + v[a] * torch.tanh(torch.dot(weight_s[a], s) + torch.dot(weight_h[a], h))
        return total

    sentences = []
    for b in range(len(state)):
        rows = []
        for s in state[b]:
            rows.append(torch.stack([score(s, h) for h in hidden[b]]))
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)


# PyTorch's own
OWN = [
    lambda s, h, W, U, v: torch.tanh(F.linear(s, W).unsqueeze(2) + F.linear(h, U).unsqueeze(1)) @ v,
]
RIGHT = [
    *OWN,
    lambda s, h, W, U, v: torch.einsum(
        "btsa,a->bts",
        torch.tanh(torch.einsum("btd,ad->bta", s, W)[:, :, None] + torch.einsum("bse,ae->bsa", h, U)[:, None]),
        v,
    ),
    lambda s, h, W, U, v: reference.additive(s, h, torch.cat([W, U], 1), v),
    lambda s, h, W, U, v: torch.stack(
        [torch.stack([torch.tanh(W @ a + hs @ U.T) @ v for a in ss]) for ss, hs in zip(s, h)]  # noqa: B905
    ),
    # As beginners write them
    perceptron_in_a_zero_buffer,
    perceptron_unit_by_unit,
    perceptron_by_lists_of_rows,
    # In odd styles
    lambda s, h, W, U, v: torch.tanh((W @ s.mT).mT[:, :, None] + (U @ h.mT).mT[:, None]).matmul(v),
    lambda s, h, W, U, v: torch.vmap(lambda a, b: torch.tanh((a @ W.T)[:, None] + b @ U.T) @ v)(s, h),
    lambda s, h, W, U, v: sum(v[i] * torch.tanh((s @ W[i])[:, :, None] + (h @ U[i])[:, None]) for i in range(len(v))),
]
WORKED = [(([[[1]]], [[[2]]], [[2], [1]], [[-1], [1]], [5, 1]), "0.9951")]
