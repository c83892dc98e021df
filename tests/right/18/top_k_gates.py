"""Right answers to 18.top_k_gates in other styles than the solution's: scatter, ranks, a dropped softmax divided anew, loops."""

import torch
import torch.nn.functional as F


def by_scatter(logits, k):
    values, places = logits.sort(dim=-1, descending=True, stable=True)
    return torch.zeros_like(logits).scatter(1, places[:, :k], values[:, :k].softmax(-1))


def by_ranks(logits, k):
    rank = torch.argsort(torch.argsort(-logits, dim=1, stable=True), dim=1)
    return F.softmax(torch.where(rank < k, logits, float("-inf")), dim=1)


def divided_anew(logits, k):
    """A softmax of all, of which the k largest are divided by their sum."""
    order = torch.argsort(logits, dim=1, descending=True, stable=True)[:, :k]
    mask = torch.zeros_like(logits).scatter_(1, order, 1.0)
    kept = torch.softmax(logits, 1) * mask
    return kept / kept.sum(1, keepdim=True)


def by_all_pairs(logits, k):
    """Each expert counts how many come before it."""
    places = torch.arange(logits.shape[1])
    other, own = logits[:, None, :], logits[:, :, None]
    before = ((other > own) | ((other == own) & (places < places[:, None]))).sum(-1)
    powers = (logits - logits.amax(1, keepdim=True)).exp() * (before < k)
    return powers / powers.sum(1, keepdim=True)


def in_place_on_a_copy(logits, k):
    scores = torch.full_like(logits, -torch.inf)
    rows = torch.arange(len(logits)).unsqueeze(1)
    best = logits.detach().sort(dim=1, descending=True, stable=True)[1][:, :k]
    scores[rows, best] = logits[rows, best]
    return scores.softmax(1)


def added_infinities(logits, k):
    order = (-logits).argsort(dim=1, stable=True)
    barrier = logits.new_full(logits.shape, -torch.inf).scatter(1, order[:, :k], 0.0)
    return (logits + barrier).softmax(dim=-1)


def the_best_one_k_times(logits, k):
    """argmax returns the first of equal ones."""
    left, chosen = logits.detach().clone(), torch.zeros_like(logits, dtype=torch.bool)
    for _ in range(k):
        best = left.argmax(dim=1)
        for row in range(len(logits)):
            chosen[row, best[row]] = True
            left[row, best[row]] = -torch.inf
    return torch.softmax(logits.masked_fill(~chosen, -torch.inf), dim=1)


def row_by_row(logits, k):
    result = torch.zeros(logits.shape, dtype=logits.dtype)
    for b in range(logits.shape[0]):
        best = []
        while len(best) < k:
            place = None
            for i in range(logits.shape[1]):
                if i not in best and (place is None or logits[b, i] > logits[b, place]):
                    place = i
            best.append(place)
        largest = logits[b, best[0]]
        total = 0
        for i in best:
            total = total + torch.exp(logits[b, i] - largest)
        for i in best:
            result[b, i] = torch.exp(logits[b, i] - largest) / total
    return result


# PyTorch's own: torch.topk promises no order for equal logits, a stable sort does
OWN = [
    by_scatter,
]
RIGHT = [
    *OWN,
    by_ranks,
    divided_anew,
    by_all_pairs,
    in_place_on_a_copy,
    added_infinities,
    the_best_one_k_times,
    # As beginners write them
    row_by_row,
]
INPUTS = {"k": lambda draw: draw.randint(1, draw.size("N"))}
