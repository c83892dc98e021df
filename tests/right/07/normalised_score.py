"""Right answers to 07.normalised_score in other styles than the solution's."""

import math

import torch


def by_logarithms(log_probability, length, alpha):
    return log_probability * math.exp(-alpha * math.log((5 + length) / 6))


def by_two_powers(log_probability, length, alpha):
    return log_probability * pow(5 + 1, alpha) / pow(5 + length, alpha)


NONE_OF_ITS_OWN = "It is one power and one division."
RIGHT = [
    by_logarithms,
    by_two_powers,
    lambda log_probability, length, alpha: log_probability * ((5 + length) / 6) ** -alpha,
    lambda p, n, a: p / math.pow((5.0 + n) / 6.0, a),
    lambda p, n, a: torch.tensor(p) / torch.tensor((5 + n) / 6) ** a,
]
INPUTS = {"log_probability": lambda draw: -draw.uniform(0, 30), "alpha": lambda draw: draw.uniform(0, 2)}
