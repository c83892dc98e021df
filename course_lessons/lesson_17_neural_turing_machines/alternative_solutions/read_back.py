"""Correct answers to 17.read_back in other styles than the solution's."""

import math
import operator

import torch

OWN = [torch.dot]
CORRECT = [
    *OWN,
    lambda write_weights, read_weights: write_weights.numpy() @ read_weights.numpy(),
    lambda write_weights, read_weights: math.fsum(map(operator.mul, write_weights.tolist(), read_weights.tolist())),
]
INPUTS = {
    "write_weights": lambda draw: draw.numbers("N", 0).softmax(0),
    "read_weights": lambda draw: draw.numbers("N", 0).softmax(0),
}
WORKED = [(([0.5, 0.5, 0], [0, 0.2, 0.8]), "0.1")]
