"""Correct answers to 11.shift_matrix in other styles than the solution's."""

import math

import torch


def by_the_matrix_exponential(words, width, back, peak):
    """A rotation is the exponential of its generator times the angle."""
    generator = torch.zeros(width, width, dtype=torch.float64)
    for i in range(0, width, 2):
        generator[i, i + 1] = 10000 ** (-i / width)
        generator[i + 1, i] = -(10000 ** (-i / width))
    moved = torch.matrix_exp(back * generator) * 2 * peak / width
    return torch.nn.functional.pad(moved, (0, 0, words, 0)).float()


def by_kronecker_products(words, width, back, peak):
    angle = torch.exp(-math.log(10000) * torch.arange(0, width, 2) / width) * back
    same, other = torch.eye(2), torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    moved = torch.kron(torch.diag(angle.cos()), same) + torch.kron(torch.diag(angle.sin()), other)
    return torch.eye(words + width)[:, words:] @ moved * (peak / (width / 2))


OWN = [by_the_matrix_exponential]
CORRECT = [*OWN, by_kronecker_products]
INPUTS = {
    "words": lambda draw: draw.randint(0, 6),
    "back": lambda draw: draw.randint(0, 40),
    "peak": lambda draw: draw.choice([0.5, 1.0, 3.0, 7.5]),
}
