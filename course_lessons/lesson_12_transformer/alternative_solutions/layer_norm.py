"""Correct answers to 12.layer_norm in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_the_function(x, gain, bias, eps):
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps)


def vector_by_vector(x, gain, bias, eps):
    rows = []
    for vector in x.reshape(-1, x.shape[-1]):
        mean = sum(vector) / len(vector)
        variance = sum((number - mean) ** 2 for number in vector) / len(vector)
        rows.append((vector - mean) / (variance + eps) ** 0.5 * gain + bias)
    return torch.stack(rows).reshape(x.shape)


OWN = [by_the_function]
CORRECT = [*OWN, vector_by_vector]
WORKED = [(([1, 2, 6], [1, 2, 1], [0, 0, 5], 0.333333), "-0.8944 -0.8944 6.3416")]
