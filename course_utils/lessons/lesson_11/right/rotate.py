"""Right answers to 11.rotate in other styles than the solution's: complex numbers, a table for all places, matrices, loops."""

import math

import torch


def by_complex_numbers(x, start):
    """A turn is a product with a number on the unit circle."""
    B, T, D = x.shape
    frequency = 1.0 / 10000 ** (torch.arange(0, D, 2).to(x.dtype) / D)
    angles = torch.outer(torch.arange(start, start + T).to(x.dtype), frequency)
    turned = torch.complex(*x.chunk(2, -1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], -1)


def with_a_table_for_all_places(x, start):
    """x cos + (halves exchanged, the first with a minus) sin, as in the code of LLaMA."""
    T, D = x.shape[-2:]
    angles = torch.arange(start, start + T)[:, None] * torch.exp(-math.log(10000) / D * torch.arange(0, D, 2))
    angles = torch.cat([angles, angles], -1)
    first, second = x[..., : D // 2], x[..., D // 2 :]
    return x * angles.cos() + torch.cat((-second, first), -1) * angles.sin()


def by_matrices(x, start):
    """A matrix for each position."""
    B, T, D = x.shape
    generator = torch.zeros(D, D, dtype=torch.float64)
    i = torch.arange(D // 2)
    generator[i, i + D // 2] = -(10000.0 ** (-2 * i.double() / D))
    generator[i + D // 2, i] = 10000.0 ** (-2 * i.double() / D)
    turns = torch.matrix_exp(torch.arange(start, start + T)[:, None, None] * generator).to(x.dtype)  # T D D
    return torch.einsum("tij,btj->bti", turns, x)


def filled_in(x, start):
    T, D = x.shape[1], x.shape[2]
    angles = torch.arange(start, start + T).unsqueeze(1) * 10000 ** (-2 * torch.arange(D // 2) / D)
    half = D // 2
    turned = torch.empty_like(x)
    turned[:, :, :half] = x[:, :, :half] * angles.cos() - x[:, :, half:] * angles.sin()
    turned[:, :, half:] = x[:, :, :half] * angles.sin() + x[:, :, half:] * angles.cos()
    return turned


def with_loops(x, start):
    B, T, D = x.shape
    result = torch.zeros_like(x)
    for n in range(B):
        for t in range(T):
            for i in range(D // 2):
                angle = (start + t) * 10000 ** (-2 * i / D)
                a = x[n, t, i]
                b = x[n, t, i + D // 2]
                result[n, t, i] = a * math.cos(angle) - b * math.sin(angle)
                result[n, t, i + D // 2] = a * math.sin(angle) + b * math.cos(angle)
    return result


# PyTorch's own
OWN = [
    by_complex_numbers,
]
RIGHT = [
    *OWN,
    with_a_table_for_all_places,
    by_matrices,
    filled_in,
    # As beginners write them
    with_loops,
]
SIZES = {"D": lambda draw: 2 * draw.randint(1, 3)}
INPUTS = {"start": lambda draw: draw.randint(0, 40)}
