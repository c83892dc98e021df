"""Correct answers to 20.sparsemax in other styles than the solution's."""

import torch


def less_the_largest(scores, mask):
    hidden = scores.masked_fill(~mask, -1e9)
    hidden = hidden - hidden.amax(-1, keepdim=True)
    down, _ = torch.sort(hidden, dim=-1, descending=True)
    k = torch.arange(1, scores.shape[-1] + 1, dtype=scores.dtype)
    above = (1 + k * down) > torch.cumsum(down, dim=-1)
    count = above.sum(dim=-1, keepdim=True)
    threshold = ((down * above).sum(dim=-1, keepdim=True) - 1) / count
    return torch.relu(hidden - threshold) * mask


def by_the_largest_threshold(scores, mask):
    """Of the thresholds for 1, 2, … scores the right one is the largest."""
    hidden = scores.masked_fill(~mask, -torch.inf)
    down = hidden.topk(scores.shape[-1]).values
    thresholds = (down.cumsum(-1) - 1) / torch.arange(1, scores.shape[-1] + 1)
    return (hidden - thresholds.amax(-1, keepdim=True)).clamp(min=0).where(mask, 0.0)


def row_by_row(scores, mask):
    B, T, S = scores.shape
    weights = torch.zeros_like(scores)
    for b in range(B):
        for t in range(T):
            places = [s for s in range(S) if mask[b, t, s]]
            places.sort(key=lambda s: -scores[b, t, s].item())
            total, threshold = 0.0, None
            for k, s in enumerate(places, 1):
                total = total + scores[b, t, s]
                if 1 + k * scores[b, t, s] > total:
                    threshold = (total - 1) / k
            for s in places:
                if scores[b, t, s] > threshold:
                    weights[b, t, s] = scores[b, t, s] - threshold
    return weights


# PyTorch's own
OWN = [
    by_the_largest_threshold,
]
CORRECT = [
    *OWN,
    less_the_largest,
    # As beginners write them
    row_by_row,
]
WORKED = [(([[[0.2, 1, 0.7]]], [[[True, True, True]]]), "0 0.65 0.35")]
