"""Correct answers to 01.sentiment in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_layers(sums, weight, bias):
    layers = torch.nn.Sequential(torch.nn.Linear(len(weight), 1), torch.nn.Sigmoid(), torch.nn.Flatten(0))
    return torch.func.functional_call(layers, {"0.weight": weight[None], "0.bias": bias[None]}, sums)


OWN = [by_layers]
CORRECT = [*OWN, lambda x, w, b: torch.exp(F.logsigmoid(torch.einsum("bd,d->b", x, w) + b))]
WORKED = [(([[2, 1], [3, 1]], [1, -3], 1), "0.5 0.7311")]
