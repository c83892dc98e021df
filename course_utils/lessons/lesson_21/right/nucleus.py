"""Right answers to 21.nucleus in other styles than the solution's: as libraries do it, topk, lists, a comparison of all pairs."""

import torch


def as_in_libraries(logits, p):
    """With logits of minus infinity, and the mask moved by one, so that the id which crosses p stays."""
    found, order = torch.sort(logits, descending=True, stable=True)
    removed = found.softmax(-1).cumsum(-1) >= p
    removed[1:] = removed[:-1].clone()
    removed[0] = False
    return logits.masked_fill(removed.scatter(0, order, removed), -torch.inf).softmax(-1)


def by_searching_for_the_number(logits, p):
    probabilities = torch.softmax(logits, 0)
    order = sorted(range(len(logits)), key=lambda i: -probabilities[i].item())  # stable, as Python's sort is
    sums = probabilities[order].cumsum(0)
    kept = order[: int((sums < p).sum()) + 1]
    result = torch.zeros_like(probabilities)
    result[kept] = probabilities[kept] / probabilities[kept].sum()
    return result


def all_pairs(logits, p):
    """How much is before each id: the sum over all that are more probable, or as probable and smaller."""
    probabilities, ids = logits.softmax(0), torch.arange(len(logits))
    larger = logits[None, :] > logits[:, None]
    tied = (logits[None, :] == logits[:, None]) & (ids[None, :] < ids[:, None])
    kept = (larger | tied).to(logits) @ probabilities < p
    return torch.where(kept, logits, -torch.inf).softmax(0)


def one_after_another(logits, p):
    probs = torch.softmax(logits, dim=0)
    left = probs.clone()
    result = torch.zeros(len(probs), dtype=probs.dtype)
    total = 0.0
    while total < p:
        best = 0
        for i in range(len(left)):
            if left[i] > left[best]:
                best = i
        if left[best] < 0:
            break
        result[best] = probs[best]
        total = total + float(probs[best])
        left[best] = -1.0
    return result / result.sum()


OWN = [as_in_libraries]
RIGHT = [
    *OWN,
    # As Hugging Face's and others' code
    by_searching_for_the_number,
    all_pairs,
    # As beginners write them
    one_after_another,
]
WORKED = [
    (([-2.302585, -0.693147, -1.897120, -1.386294], 0.7), "0 0.6667 0 0.3333"),
    (([-2.302585, -0.693147, -1.897120, -1.386294], 0.45), "0 1 0 0"),
]
INPUTS = {"p": lambda draw: draw.uniform(0.05, 0.98)}
