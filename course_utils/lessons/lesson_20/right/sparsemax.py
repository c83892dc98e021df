"""Right answers to 20.sparsemax in other styles than the solution's: without sorting, by all sizes of the support, row by row."""

import torch


def by_leaving_out(scores, mask):
    """Whatever lies below the threshold of the rest is left out, until nothing does."""
    scores, kept = scores.masked_fill(~mask, 0.0), mask
    while True:
        count = kept.sum(-1, keepdim=True).clamp(min=1)
        threshold = ((scores * kept).sum(-1, keepdim=True) - 1) / count
        fewer = kept & (scores > threshold)
        if torch.equal(fewer, kept):
            return torch.where(kept, scores - threshold, 0.0)
        kept = fewer


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


def each_score_by_those_above_it(scores, mask):
    """A score gets a weight if those above it exceed it by less than 1 in all: without sorting."""
    apart = (scores[..., None, :] - scores[..., :, None]).masked_fill(~(mask[..., None, :] & mask[..., :, None]), 0.0)
    kept = (apart.clamp(min=0).sum(-1) < 1) & mask
    count = kept.sum(-1, keepdim=True).clamp(min=1)
    threshold = (scores.masked_fill(~kept, 0.0).sum(-1, keepdim=True) - 1) / count
    return (scores.masked_fill(~kept, 0.0) - threshold) * kept


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
RIGHT = [
    *OWN,
    by_leaving_out,
    less_the_largest,
    each_score_by_those_above_it,
    # As beginners write them
    row_by_row,
]
WORKED = [(([[[0.2, 1, 0.7]]], [[[True, True, True]]]), "0 0.65 0.35")]
