"""Right answers to 11.shift_matrix in other styles than the solution's: a matrix exponential, powers, complex numbers, loops."""

import math

import numpy as np
import torch


def assigned(width, offset):
    even = torch.arange(0, width, 2)
    angle = offset / 10000 ** (even / width)
    matrix = torch.diag(angle.cos().repeat_interleave(2))
    matrix[even, even + 1] = angle.sin()
    matrix[even + 1, even] = -angle.sin()
    return matrix


def by_the_matrix_exponential(width, offset):
    """A rotation is the exponential of its generator times the angle."""
    generator = torch.zeros(width, width, dtype=torch.float64)
    for i in range(0, width, 2):
        generator[i, i + 1] = 10000 ** (-i / width)
        generator[i + 1, i] = -(10000 ** (-i / width))
    return torch.matrix_exp(offset * generator).float()


def by_powers_of_one_step(width, offset):
    frequency = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    one = torch.block_diag(
        *[torch.stack([torch.stack([f.cos(), f.sin()]), torch.stack([-f.sin(), f.cos()])]) for f in frequency]
    )
    return torch.linalg.matrix_power(one, offset).float()


def by_kronecker_products(width, offset):
    angle = torch.exp(-math.log(10000) * torch.arange(0, width, 2) / width) * offset
    same, other = torch.eye(2), torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    return torch.kron(torch.diag(angle.cos()), same) + torch.kron(torch.diag(angle.sin()), other)


def from_two_positions_of_each_pair(width, offset):
    """Each block is the position at the offset beside the derivative there."""
    place = np.arange(width)
    angle = offset / 10000 ** ((place - place % 2) / width)
    matrix = np.zeros((width, width))
    matrix[place, place] = np.cos(angle)
    matrix[place, place ^ 1] = np.where(place % 2, -1, 1) * np.sin(angle)
    return torch.from_numpy(matrix).float()


def with_loops(width, offset):
    M = torch.zeros(width, width)
    for i in range(width // 2):
        w = 1 / 10000 ** (2 * i / width)
        M[2 * i][2 * i] = math.cos(offset * w)
        M[2 * i][2 * i + 1] = math.sin(offset * w)
        M[2 * i + 1][2 * i] = -math.sin(offset * w)
        M[2 * i + 1][2 * i + 1] = math.cos(offset * w)
    return M


# PyTorch's own
OWN = [
    by_the_matrix_exponential,
]
RIGHT = [
    *OWN,
    assigned,
    by_powers_of_one_step,
    by_kronecker_products,
    from_two_positions_of_each_pair,
    # As beginners write them
    with_loops,
]
INPUTS = {"offset": lambda draw: draw.randint(0, 40)}
