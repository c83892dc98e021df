"""Correct answers to 12.feed_forward in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_linear(x, weight_1, bias_1, weight_2, bias_2):
    return F.linear(F.relu(F.linear(x, weight_1, bias_1)), weight_2, bias_2)


def by_layers(x, weight_1, bias_1, weight_2, bias_2):
    (units, width), kind = weight_1.shape, x.dtype
    layers = torch.nn.Sequential(torch.nn.Linear(width, units), torch.nn.ReLU(), torch.nn.Linear(units, width)).to(kind)
    given = {"0.weight": weight_1, "0.bias": bias_1, "2.weight": weight_2, "2.bias": bias_2}
    return torch.func.functional_call(layers, given, x)


OWN = [by_layers, by_linear]
CORRECT = OWN
WORKED = [(([[[1, 2]]], [[1, 0], [0, 1], [1, -1]], [0, 0.5, 0], [[1, 0, 4], [0, 2, 4]], [1, -1]), "2 4")]
