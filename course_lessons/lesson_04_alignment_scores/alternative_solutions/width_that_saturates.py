"""Correct answers to 04.width_that_saturates in other styles than the solution's."""

import math

import torch


def upwards(share):
    D = 1
    while torch.sigmoid(torch.tensor(2.0 * D).sqrt()) < share:
        D += 1
    return D


def by_logit(share):
    lead = torch.logit(torch.tensor(share, dtype=torch.float64))
    return torch.ceil(lead.square() / 2).long()


def by_halving(share):
    low, high = 0, 1 << 20
    while high - low > 1:
        middle = (low + high) // 2
        if 1 / (1 + math.exp(-math.sqrt(2 * middle))) >= share:
            high = middle
        else:
            low = middle
    return high


# PyTorch's own
OWN = [
    by_logit,
]
CORRECT = [
    *OWN,
    upwards,
    by_halving,
]
INPUTS = {"share": lambda draw: draw.choice([0.55, 0.7, 0.8, 0.9, 0.93, 0.97, 0.99, 0.999])}
