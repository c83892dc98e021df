"""Right answers to 15.pointing_accuracy in other styles than the solution's: real words first, one-hot, ranks, NumPy, loops."""

import numpy as np
import torch


def real_words_first(weights, true, mask):
    hits = weights[mask].argmax(1) == true[mask]
    return hits.double().mean() if len(hits) else 0


def by_max(weights, true, mask):
    _, places = weights.max(dim=2)
    return (places.eq(true) & mask).sum() / mask.sum().clamp(min=1)


def by_looking_up(weights, true, mask):
    words = weights[mask]
    at_true = words.gather(1, true[mask].long()[:, None])[:, 0]
    return (at_true >= words.amax(1)).sum().item() / max(len(words), 1)


def by_ranks(weights, true, mask):
    """A word is right where no weight is larger than that at the true place."""
    words, places = weights[mask], true[mask].long()
    larger = (words > words[torch.arange(len(words)), places][:, None]).sum(1)
    return (larger == 0).sum().item() / len(words) if len(words) else 0.0


def by_sorting(weights, true, mask):
    first = weights.argsort(dim=-1, descending=True)[..., 0]
    wrong = ((first != true) & mask).sum()
    n = mask.sum()
    return torch.where(n > 0, 1 - wrong / n.clamp(min=1), 0.0)


def by_numpy(weights, true, mask):
    w, t, m = (x.detach().numpy() for x in (weights, true, mask))
    if not m.any():
        return 0.0
    return float(np.mean(w[m].argmax(-1) == t[m]))


def by_lists(weights, true, mask):
    pairs = [
        (row.index(max(row)), place)
        for rows, places, real in zip(weights.tolist(), true.tolist(), mask.tolist(), strict=True)
        for row, place, word in zip(rows, places, real, strict=True)
        if word
    ]
    return sum(pointed == place for pointed, place in pairs) / max(1, len(pairs))


def word_by_word(weights, true, mask):
    correct = 0
    total = 0
    for b in range(weights.shape[0]):
        for t in range(weights.shape[1]):
            if mask[b, t]:
                best = 0
                for i in range(weights.shape[2]):
                    if weights[b, t, i] > weights[b, t, best]:
                        best = i
                if best == true[b, t]:
                    correct += 1
                total += 1
    if total == 0:
        return 0
    return correct / total


def by_masked_mean(weights, true, mask):
    """The mean of no words is NaN."""
    return torch.masked.mean((weights.argmax(-1) == true).double(), mask=mask).nan_to_num()


# PyTorch's own
OWN = [
    by_masked_mean,
]
RIGHT = [
    *OWN,
    real_words_first,
    by_max,
    by_looking_up,
    by_ranks,
    by_sorting,
    by_numpy,
    by_lists,
    # As beginners write them
    word_by_word,
]
INPUTS = {"true": lambda draw: draw.whole("B×T", 0, draw.size("L"))}
