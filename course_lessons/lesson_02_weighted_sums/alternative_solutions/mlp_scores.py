"""Correct answers to 02.mlp_scores in other styles than the solution's."""

import torch
from torch import nn


def mlp_by_layers(words, weight, bias, theta):
    H, D = weight.shape
    layers = nn.Sequential(nn.Linear(D, H), nn.Sigmoid(), nn.Linear(H, 1, bias=False))
    given = {"0.weight": weight, "0.bias": bias, "2.weight": theta[None]}
    return torch.func.functional_call(layers, given, words).squeeze(-1)


OWN = [mlp_by_layers]
CORRECT = [*OWN, lambda x, W, b, t: (1 / (1 + torch.exp(-(x @ W.mT + b)))) @ t]
WORKED = [(([[[1, 2]]], [[1, 0], [1, -1]], [-1, 1], [4, 2]), "3")]
