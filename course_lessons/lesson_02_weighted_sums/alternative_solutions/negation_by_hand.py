"""Correct answers to 02.negation_by_hand with other numbers than the solution's, in other forms."""

import math

import torch


def other_words_masked(longest):
    return (5, 0, -math.inf), (-math.inf, 0, -math.inf), (4, -3)


def attentions_in_the_other_order(longest):
    return torch.tensor([-30.0, 0.0, -30.0]), torch.tensor([15.0, 0.0, -15.0]), torch.tensor([-18.0, 21.0])


def a_list_of_tensors(longest):
    scores = torch.zeros(2, 3)
    scores[0, 0], scores[0, 1], scores[1, 1] = 40, 20, 30
    return [scores[0], scores[1], torch.tensor([5, -4])]


NONE_OF_ITS_OWN = "The parameters are found by thinking, and many are right."
CORRECT = [
    other_words_masked,
    attentions_in_the_other_order,
    a_list_of_tensors,
    lambda longest: ([100, 50, 0], [0, 50, 0], [3.2, -2.4]),
    lambda longest: ([0, 40, 0], [80, 40, 0], [-2, 3]),  # exactly 0.5 for "not awful"
]
INPUTS = {"longest": lambda draw: draw.randint(2, 12)}
