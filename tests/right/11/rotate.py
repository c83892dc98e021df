"""Right answers to 11.rotate in other styles than the solution's: complex numbers, a table for all places, matrices, loops."""

import math

import torch


def by_complex_numbers(x, start):
    """As in LLaMA's first code: a turn is a product with a number on the unit circle."""
    B, T, D = x.shape
    frequency = 1.0 / 10000 ** (torch.arange(0, D, 2).to(x.dtype) / D)
    angles = torch.outer(torch.arange(start, start + T).to(x.dtype), frequency)
    pairs = torch.view_as_complex(x.reshape(B, T, -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(2)


def with_a_table_for_all_places(x, start):
    """x cos + (neighbours exchanged, the first with a minus) sin."""
    T, D = x.shape[-2:]
    angles = torch.arange(start, start + T)[:, None] * torch.exp(-math.log(10000) / D * torch.arange(0, D, 2))
    angles = angles.repeat_interleave(2, -1)
    exchanged = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * angles.cos() + exchanged * angles.sin()


def by_matrices(x, start):
    """A block matrix for each position."""
    B, T, D = x.shape
    generator = torch.zeros(D, D, dtype=torch.float64)
    even = torch.arange(0, D, 2)
    generator[even, even + 1] = -(10000.0 ** (-even.double() / D))
    generator[even + 1, even] = 10000.0 ** (-even.double() / D)
    turns = torch.matrix_exp(torch.arange(start, start + T)[:, None, None] * generator).to(x.dtype)  # T D D
    return torch.einsum("tij,btj->bti", turns, x)


def filled_in(x, start):
    T, D = x.shape[1], x.shape[2]
    angles = torch.arange(start, start + T).unsqueeze(1) * 10000 ** (-2 * torch.arange(D // 2) / D)
    turned = torch.empty_like(x)
    turned[:, :, 0::2] = x[:, :, 0::2] * angles.cos() - x[:, :, 1::2] * angles.sin()
    turned[:, :, 1::2] = x[:, :, 0::2] * angles.sin() + x[:, :, 1::2] * angles.cos()
    return turned


def with_loops(x, start):
    B, T, D = x.shape
    result = torch.zeros_like(x)
    for n in range(B):
        for t in range(T):
            for i in range(D // 2):
                angle = (start + t) * 10000 ** (-2 * i / D)
                a = x[n, t, 2 * i]
                b = x[n, t, 2 * i + 1]
                result[n, t, 2 * i] = a * math.cos(angle) - b * math.sin(angle)
                result[n, t, 2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
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
