"""Correct answers to 08.best_baseline in other styles than the solution's."""

import numpy as np


def word_by_word(p, R):
    above, below = 0.0, 0.0
    for k in range(len(p)):
        length = (1 - p[k]) ** 2 + sum(p[i] ** 2 for i in range(len(p)) if i != k)
        above += p[k] * length * R[k]
        below += p[k] * length
    return above / below


NONE_OF_ITS_OWN = "PyTorch's distributions draw and give log probabilities; a baseline is not among what they compute."
CORRECT = [
    word_by_word,
    lambda p, R: np.average(R.numpy(), weights=p.numpy() * (1 - 2 * p.numpy() + (p.numpy() ** 2).sum())),
]
WORKED = [(([0.8, 0.2], [1, 3]), "2.6")]
INPUTS = {"probabilities": lambda draw: draw.numbers("S", 0).softmax(0)}
