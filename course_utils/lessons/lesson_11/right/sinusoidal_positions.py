"""Right answers to 11.sinusoidal_positions in other styles than the solution's: exp and log, complex numbers, stack, NumPy, loops."""

import math

import numpy as np
import torch


def by_exp_and_log(length, width):
    """As in most implementations: columns are assigned."""
    position = torch.arange(length).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency)
    return table


def by_complex_numbers(length, width):
    frequency = 10000 ** -(torch.arange(0, width, 2) / width)
    hands = torch.polar(torch.ones(length, width // 2), torch.outer(torch.arange(length).float(), frequency))
    return torch.view_as_real(hands).flip(-1).flatten(1)


def stacked(length, width):
    angles = torch.arange(length)[:, None] / 10_000 ** (2 * torch.arange(width // 2) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, width)


def by_numpy(length, width):
    column = np.arange(width)
    angles = np.arange(length)[:, None] / np.power(10000, 2 * (column // 2) / width)
    return torch.tensor(np.where(column % 2, np.cos(angles), np.sin(angles)), dtype=torch.float32)


def as_shifted_sines(length, width):
    """cos(a) = sin(a + π/2)."""
    columns = torch.arange(width)
    angles = torch.arange(length)[:, None] * 1e4 ** (-(columns - columns % 2) / width)
    return torch.sin(angles + math.pi / 2 * (columns % 2))


def step_by_step(length, width):
    """Turned on by one step from row to row."""
    turn = torch.exp(1j * 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width))
    hands = torch.ones(width // 2, dtype=torch.complex128)
    rows = []
    for _ in range(length):
        rows.append(torch.stack([hands.imag, hands.real], 1).reshape(-1))
        hands = hands * turn
    return torch.stack(rows).float()


def with_loops(length, width):
    pe = torch.zeros(length, width)
    for pos in range(length):
        for i in range(0, width, 2):
            angle = pos / (10000 ** (i / width))
            pe[pos, i] = math.sin(angle)
            pe[pos, i + 1] = math.cos(angle)
    return pe


# PyTorch's own
OWN = [
    by_complex_numbers,
]
RIGHT = [
    *OWN,
    by_exp_and_log,
    stacked,
    by_numpy,
    as_shifted_sines,
    step_by_step,
    # As beginners write them
    with_loops,
]
