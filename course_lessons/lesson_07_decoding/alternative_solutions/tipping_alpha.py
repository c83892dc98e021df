"""Correct answers to 07.tipping_alpha in other styles than the solution's."""

import math

import torch


def by_differences(a, m, b, n):
    return max(0, (math.log(-b) - math.log(-a)) / (math.log(5 + n) - math.log(5 + m)))


def by_tensors(a, m, b, n):
    lead = torch.log(torch.tensor(b / a, dtype=torch.float64))
    return torch.relu(lead / torch.log(torch.tensor((5 + n) / (5 + m), dtype=torch.float64)))


NONE_OF_ITS_OWN = "It is arithmetic with two logarithms."
CORRECT = [by_differences, by_tensors]
INPUTS = {
    "short_log_p": lambda draw: -draw.uniform(1, 9),
    "short_length": lambda draw: draw.randint(1, 9),
    "long_log_p": lambda draw: -draw.uniform(1, 20),
    "long_length": lambda draw: draw.randint(11, 30),
}
