"""Correct answers to 02.negation_by_hand with other numbers than the solution's, in other forms."""

import math

import torch

NONE_OF_ITS_OWN = "The parameters are found by thinking, and many are right."
# Of the last, a score of exactly 0.5 for "not awful"
CORRECT = [
    lambda longest: ((5, 0, -math.inf), (-math.inf, 0, -math.inf), (4, -3)),
    lambda longest: (torch.tensor([-30.0, 0.0, -30.0]), torch.tensor([15.0, 0.0, -15.0]), torch.tensor([-18.0, 21.0])),
    lambda longest: [torch.tensor([40.0, 20.0, 0.0]), torch.tensor([0.0, 30.0, 0.0]), torch.tensor([5, -4])],
    lambda longest: ([0, 40, 0], [80, 40, 0], [-2, 3]),
]
INPUTS = {"longest": lambda draw: draw.randint(2, 12)}
