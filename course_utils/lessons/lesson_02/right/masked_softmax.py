"""Right answers to 02.masked_softmax in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F


def masked_by_loops(scores, mask):
    out = torch.zeros_like(scores)
    flat, allowed = scores.reshape(-1, scores.shape[-1]), mask.reshape(-1, scores.shape[-1])
    rows = []
    for row, keep in zip(flat, allowed, strict=True):
        new = torch.zeros_like(row)
        if keep.any():
            new = new.masked_scatter(keep, row[keep].softmax(0))
        rows.append(new)
    return torch.stack(rows).reshape(out.shape)


def masked_by_recursion(scores, mask):
    if scores.dim() > 1:
        return torch.stack([masked_by_recursion(scores[i], mask[i]) for i in range(len(scores))])
    weights = torch.zeros(len(scores))
    if not mask.any():
        return weights
    highest = scores[mask].max()
    total = torch.tensor(0.0)
    for s in range(len(scores)):
        if mask[s]:
            total += torch.exp(scores[s] - highest)
    for s in range(len(scores)):
        if mask[s]:
            weights[s] = torch.exp(scores[s] - highest) / total
    return weights


def masked_by_float_mask(scores, mask):
    m = mask.float()
    lowered = scores * m - (1 - m) * 1e9
    highest = lowered.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(lowered - highest) * m
    total = exponentials.sum(dim=-1, keepdim=True)
    nothing = (total == 0).float()
    return exponentials / (total + nothing)


def masked_in_a_flat_zero_buffer(scores, mask):
    S = scores.shape[-1]
    flat_scores = scores.reshape(-1, S)
    flat_mask = mask.reshape(-1, S)
    weights = torch.zeros(flat_scores.shape)
    for i in range(len(flat_scores)):
        if flat_mask[i].sum() > 0:
            weights[i, flat_mask[i]] = torch.softmax(flat_scores[i, flat_mask[i]], dim=0)
    return weights.reshape(scores.shape)


def masked_in_a_changed_copy(scores, mask):
    copy = scores.clone()
    copy[~mask] = -1e9
    weights = torch.softmax(copy, dim=-1)
    return weights * mask.float()


def soft(scores, mask):
    return torch.nan_to_num(scores.masked_fill(~mask, -torch.inf).softmax(-1))


def masked_by_scatter(scores, mask):
    return torch.zeros_like(scores).masked_scatter(mask, soft(scores, mask)[mask])


def masked_by_numpy(s, m):
    """Only where no gradient is asked would numpy do: here float64 work inside, in torch."""
    e = torch.where(m, s.double(), -torch.inf)
    e = torch.exp(e - e.amax(-1, keepdim=True).nan_to_num(neginf=0.0))
    return (e / e.sum(-1, keepdim=True).clamp_min(torch.finfo(e.dtype).tiny)).type_as(s)


# PyTorch's own
OWN = [
    lambda s, m: torch.masked.softmax(s, -1, mask=m).nan_to_num(0.0),
]
RIGHT = [
    *OWN,
    masked_by_loops,
    lambda s, m: F.softmax(s.masked_fill(m.logical_not(), torch.finfo(s.dtype).min), -1) * m,
    lambda s, m: torch.nan_to_num(s.masked_fill(~m, float("-inf")).softmax(-1), 0.0),
    lambda s, m: torch.where(m, torch.where(m, s, -torch.inf).softmax(-1), 0.0),
    lambda s, m: torch.softmax(torch.where(m, s, torch.tensor(-1e9, dtype=s.dtype)), dim=-1).masked_fill(~m, 0),
    # As beginners write them
    masked_by_recursion,
    masked_by_float_mask,
    masked_in_a_flat_zero_buffer,
    masked_in_a_changed_copy,
    # In odd styles
    masked_by_scatter,
    masked_by_numpy,
    lambda s, m: torch.where(m.any(-1, keepdim=True), s.masked_fill(~m, -3e38).softmax(-1), 0.0).masked_fill(~m, 0),
    lambda s, m: F.softmax(s.where(m, -torch.inf), -1).where(m, 0),
    lambda s, m: (
        s.masked_fill(~m, -torch.inf)
        - torch.where(m.any(-1, keepdim=True), s.masked_fill(~m, -torch.inf).logsumexp(-1, keepdim=True), 0)
    ).exp(),
]
WORKED = [(([2, 0, 5], [True, True, False]), "0.8808 0.1192 0"), (([2, 0, 5], [False, False, False]), "0 0 0")]
