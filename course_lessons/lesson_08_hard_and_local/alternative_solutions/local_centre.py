"""Correct answers to 08.local_centre in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_layers(state, weight, v, length):
    share = torch.sigmoid(F.linear(torch.tanh(F.linear(state, weight)), v.unsqueeze(0)))
    return length * share.squeeze(-1)


def by_tanh(state, weight, v, length):
    score = (torch.tanh(state @ weight.mT) * v).sum(dim=1)
    return length * (torch.tanh(score / 2) + 1) / 2


OWN = [by_layers]
CORRECT = [*OWN, by_tanh]
WORKED = [(([[1]], [[1]], [1.4425], [8]), "6"), (([[1]], [[1]], [1.4425], [4]), "3")]
INPUTS = {"length": lambda draw: draw.whole("B", 1, 9)}
