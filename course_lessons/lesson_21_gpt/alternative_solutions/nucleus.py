"""Correct answers to 21.nucleus in other styles than the solution's."""

import torch


def as_in_libraries(logits, p):
    """With logits of minus infinity, and the mask moved by one, so that the id which crosses p stays."""
    found, order = torch.sort(logits, descending=True, stable=True)
    removed = found.softmax(-1).cumsum(-1) >= p
    removed[1:] = removed[:-1].clone()
    removed[0] = False
    return logits.masked_fill(removed.scatter(0, order, removed), -torch.inf).softmax(-1)


def one_after_another(logits, p):
    probs = torch.softmax(logits, dim=0)
    left, result, total = probs.clone(), torch.zeros_like(probs), 0.0
    while total < p:
        best = max(range(len(left)), key=lambda i: left[i])
        if left[best] < 0:
            break
        result[best] = probs[best]
        total = total + float(probs[best])
        left[best] = -1.0
    return result / result.sum()


OWN = [as_in_libraries]
CORRECT = [*OWN, one_after_another]
WORKED = [
    (([-2.302585, -0.693147, -1.897120, -1.386294], 0.7), "0 0.6667 0 0.3333"),
    (([-2.302585, -0.693147, -1.897120, -1.386294], 0.45), "0 1 0 0"),
]
INPUTS = {"p": lambda draw: draw.uniform(0.05, 0.98)}
