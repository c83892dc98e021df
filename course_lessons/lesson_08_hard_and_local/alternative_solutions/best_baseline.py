"""Correct answers to 08.best_baseline in other styles than the solution's."""

import numpy as np
import torch


def by_all_gradients(probabilities, rewards):
    gradients = torch.eye(len(probabilities), dtype=probabilities.dtype) - probabilities
    return torch.einsum("k,ki,ki,k->", probabilities, gradients, gradients, rewards) / torch.einsum(
        "k,ki,ki->", probabilities, gradients, gradients
    )


def word_by_word(p, R):
    above, below = 0.0, 0.0
    for k in range(len(p)):
        length = (1 - p[k]) ** 2 + sum(p[i] ** 2 for i in range(len(p)) if i != k)
        above += p[k] * length * R[k]
        below += p[k] * length
    return above / below


NONE_OF_ITS_OWN = "PyTorch's distributions draw and give log probabilities; a baseline is not among what they compute."
CORRECT = [
    by_all_gradients,
    word_by_word,
    lambda p, R: np.average(R.numpy(), weights=p.numpy() * (1 - 2 * p.numpy() + (p.numpy() ** 2).sum())),
]
WORKED = [(([0.8, 0.2], [1, 3]), "2.6")]
INPUTS = {"probabilities": lambda draw: draw.numbers("S", 0).softmax(0)}
