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


OWN = [by_the_largest_threshold]
CORRECT = [*OWN, less_the_largest]
WORKED = [(([[[0.2, 1, 0.7]]], [[[True, True, True]]]), "0 0.65 0.35")]
