"""What the tasks on SNAIL's blocks share: sequences moved along, and the convolution that their mistakes use. No task is declared here."""

import torch
import torch.nn.functional as F


def later(x, by):
    """Return x B×T×D moved `by` places later, with zeros before it."""
    return F.pad(x, (0, 0, by, 0))[:, : x.shape[1]]


def convolved(x, weight, bias, dilation):
    """Return the causal convolution B×T×F of x B×T×D with weight F×D×2 and bias F."""
    return later(x, dilation) @ weight[..., 0].T + x @ weight[..., 1].T + bias


def by_places(x, weight, bias, dilation):
    """The same, one place after another: for oracles."""
    places = []
    for t in range(x.shape[1]):
        place = bias + (x[:, t, None] * weight[..., 1]).sum(2)
        if t >= dilation:
            place = place + (x[:, t - dilation, None] * weight[..., 0]).sum(2)
        places.append(place)
    return torch.stack(places, 1)


def drawn_weight(draw, F, D, dtype):
    """Return a weight F×D×2 and a bias F, in which no number is 0."""
    return draw.numbers(F, D, 2, dtype=dtype) / D**0.5 + 0.125, draw.numbers(F, dtype=dtype) / 2 + 0.125
