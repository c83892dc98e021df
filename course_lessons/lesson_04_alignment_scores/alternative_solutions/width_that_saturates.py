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


OWN = [by_logit]
CORRECT = [*OWN, upwards, lambda share: math.ceil(math.log(share / (1 - share)) ** 2 / 2)]
INPUTS = {"share": lambda draw: draw.choice([0.55, 0.7, 0.8, 0.9, 0.93, 0.97, 0.99, 0.999])}
