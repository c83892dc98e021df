"""Correct answers to 17.read_back in other styles than the solution's."""

import math
import operator

import torch


def position_by_position(write_weights, read_weights):
    total = 0
    for i in range(len(write_weights)):
        total = total + write_weights[i] * read_weights[i]
    return total


# PyTorch's own
OWN = [
    torch.dot,
]
CORRECT = [
    *OWN,
    position_by_position,
    lambda write_weights, read_weights: torch.tensor(write_weights.numpy() @ read_weights.numpy()),
    lambda write_weights, read_weights: write_weights.numpy() @ read_weights.numpy(),
    lambda write_weights, read_weights: math.fsum(map(operator.mul, write_weights.tolist(), read_weights.tolist())),
    lambda write_weights, read_weights: (write_weights @ read_weights).item(),
]
INPUTS = {
    "write_weights": lambda draw: draw.numbers("N", 0).softmax(0),
    "read_weights": lambda draw: draw.numbers("N", 0).softmax(0),
}
WORKED = [(([0.5, 0.5, 0], [0, 0.2, 0.8]), "0.1")]
