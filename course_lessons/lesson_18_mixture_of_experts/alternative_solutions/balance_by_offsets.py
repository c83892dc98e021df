"""Correct answers to 18.balance_by_offsets in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_normalize(scores, offsets, k, step):
    best = torch.topk(scores + offsets, k).indices
    chosen = torch.zeros_like(scores).scatter_(1, best, 1.0)
    load = torch.bincount(best.flatten(), minlength=scores.shape[1]).to(scores.dtype)
    return F.normalize(scores * chosen, p=1, dim=1), offsets + step * torch.sign(load.mean() - load)


def row_by_row(scores, offsets, k, step):
    B, N = scores.shape
    gates, load = torch.zeros(B, N, dtype=scores.dtype), [0] * N
    for b in range(B):
        order = sorted(range(N), key=lambda i, b=b: (scores[b, i] + offsets[i]).item(), reverse=True)
        for i in order[:k]:
            gates[b, i] = scores[b, i] / sum(scores[b, other] for other in order[:k])
            load[i] = load[i] + 1
    moved = []
    for i in range(N):
        moved.append(offsets[i] + step * ((load[i] * N < k * B) - (load[i] * N > k * B)))
    return gates, torch.stack(moved)


OWN = [by_normalize]
CORRECT = [*OWN, row_by_row]
INPUTS = {
    "scores": lambda draw: draw.between("B×N", 0.05, 0.95),
    "offsets": lambda draw: draw.between("N", -0.3, 0.3),
    "k": lambda draw: draw.randint(1, draw.size("N")),
    "step": lambda draw: draw.choice([0.0, 0.001, 0.125]),
}
