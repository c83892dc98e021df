"""Right answers to 07.tipping_alpha in other styles than the solution's: differences of logarithms, another base, a search, tensors."""

import math

import torch


def by_differences(a, m, b, n):
    return max(0, (math.log(-b) - math.log(-a)) / (math.log(5 + n) - math.log(5 + m)))


def by_another_base(a, m, b, n):
    return 0.0 if b >= a else math.log(b / a, (5 + n) / (5 + m))


def by_halving(a, m, b, n):
    """Asks for each alpha who wins."""

    def longer_wins(alpha):
        return b * ((5 + n) / 6) ** -alpha >= a * ((5 + m) / 6) ** -alpha

    low, high = 0.0, 100.0
    if longer_wins(low):
        return 0.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if longer_wins(middle) else (middle, high)
    return high


def by_tensors(a, m, b, n):
    lead = torch.log(torch.tensor(b / a, dtype=torch.float64))
    return torch.relu(lead / torch.log(torch.tensor((5 + n) / (5 + m), dtype=torch.float64)))


NONE_OF_ITS_OWN = "It is arithmetic with two logarithms."
RIGHT = [by_differences, by_another_base, by_halving, by_tensors]
INPUTS = {
    "short_log_p": lambda draw: -draw.uniform(1, 9),
    "short_length": lambda draw: draw.randint(1, 9),
    "long_log_p": lambda draw: -draw.uniform(1, 20),
    "long_length": lambda draw: draw.randint(11, 30),
}
