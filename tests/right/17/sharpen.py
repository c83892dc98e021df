"""Right answers to 17.sharpen in other styles than the solution's: logarithms that see no 0, the largest taken out, normalize, loops."""

import torch
import torch.nn.functional as F


def by_pow(weights, gamma):
    powers = torch.pow(weights, gamma.unsqueeze(-1))
    return powers / powers.sum(1)[:, None]


def by_normalize(weights, gamma):
    return F.normalize(weights ** gamma.view(-1, 1), p=1, dim=1, eps=0.0)


def largest_taken_out(weights, gamma):
    """The largest weight becomes 1 first, so that no power is too small for float32."""
    powers = (weights / weights.amax(1, keepdim=True)) ** gamma[:, None]
    return powers / powers.sum(1, keepdim=True)


def by_logarithms(weights, gamma):
    there = weights > 0
    scores = gamma[:, None] * torch.where(there, weights, 1.0).log()
    return scores.masked_fill(~there, -torch.inf).softmax(1)


def by_einsum(weights, gamma):
    powers = weights ** gamma[:, None]
    return torch.einsum("bn,b->bn", powers, 1 / powers.sum(1))


def transposed_twice(weights, gamma):
    powers = weights.T**gamma
    return (powers / powers.sum(0)).T


def row_by_row(weights, gamma):
    rows = []
    for b in range(weights.shape[0]):
        total = 0
        for w in weights[b]:
            total = total + w ** gamma[b]
        rows.append(torch.stack([w ** gamma[b] / total for w in weights[b]]))
    return torch.stack(rows)


# PyTorch's own
OWN = [
    by_normalize,
]
RIGHT = [
    *OWN,
    by_pow,
    largest_taken_out,
    by_logarithms,
    by_einsum,
    transposed_twice,
    # As beginners write them
    row_by_row,
]
WORKED = [(([[0.6, 0.3, 0.1, 0]], [2]), "0.7826 0.1957 0.0217 0")]
INPUTS = {
    "weights": lambda draw: draw.probabilities("B×N", zeros=0.3),
    "gamma": lambda draw: draw.between("B", 1, 5),
}
