"""Correct answers to 18.balance_by_offsets in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_normalize(scores, offsets, k, step):
    best = torch.topk(scores + offsets, k).indices
    chosen = torch.zeros_like(scores).scatter_(1, best, 1.0)
    load = torch.bincount(best.flatten(), minlength=scores.shape[1]).to(scores.dtype)
    return F.normalize(scores * chosen, p=1, dim=1), offsets + step * torch.sign(load.mean() - load)


def by_the_kth_value(scores, offsets, k, step):
    B, N = scores.shape
    least = (scores + offsets).kthvalue(N - k + 1, dim=1, keepdim=True).values
    chosen = scores + offsets >= least
    gates = torch.where(chosen, scores, 0.0)
    return gates / gates.sum(-1, keepdim=True), offsets + step * (k * B / N - chosen.sum(0)).sign()


def row_by_row(scores, offsets, k, step):
    B, N = scores.shape
    gates = torch.zeros(B, N, dtype=scores.dtype)
    load = [0] * N
    for b in range(B):
        best = []
        for _ in range(k):
            found = None
            for i in range(N):
                if i not in best and (found is None or scores[b, i] + offsets[i] > scores[b, found] + offsets[found]):
                    found = i
            best.append(found)
            load[found] = load[found] + 1
        total = 0
        for i in best:
            total = total + scores[b, i]
        for i in best:
            gates[b, i] = scores[b, i] / total
    moved = []
    for i in range(N):
        if load[i] * N < k * B:
            moved.append(offsets[i] + step)
        elif load[i] * N > k * B:
            moved.append(offsets[i] - step)
        else:
            moved.append(offsets[i])
    return gates, torch.stack(moved)


# PyTorch's own
OWN = [
    by_normalize,
]
CORRECT = [
    *OWN,
    by_the_kth_value,
    # As beginners write them
    row_by_row,
]
INPUTS = {
    "scores": lambda draw: draw.between("B×N", 0.05, 0.95),
    "offsets": lambda draw: draw.between("N", -0.3, 0.3),
    "k": lambda draw: draw.randint(1, draw.size("N")),
    "step": lambda draw: draw.choice([0.0, 0.001, 0.125]),
}
