"""Correct answers to 11.sinusoidal_positions in other styles than the solution's."""

import math

import numpy as np
import torch


def by_exp_and_log(times, width, shortest, longest):
    """Logarithms of the periods are evenly spaced."""
    logs = torch.linspace(math.log(shortest), math.log(longest), width // 2, dtype=torch.float64)
    angles = 2 * math.pi * times.double().unsqueeze(1) * torch.exp(-logs)
    table = torch.zeros(len(times), width)
    table[:, 0::2] = torch.sin(angles).float()
    table[:, 1::2] = torch.cos(angles).float()
    return table


def by_complex_numbers(times, width, shortest, longest):
    share = torch.arange(width // 2) / (width // 2 - 1)
    angles = 2 * torch.pi * torch.outer(times.float(), 1 / (shortest ** (1 - share) * longest**share))
    hands = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(hands).flip(-1).flatten(1)


def by_numpy(times, width, shortest, longest):
    periods = np.geomspace(shortest, longest, width // 2)[np.arange(width) // 2]
    angles = 2 * np.pi * times.numpy().astype(float)[:, None] / periods
    return torch.tensor(np.where(np.arange(width) % 2, np.cos(angles), np.sin(angles)), dtype=torch.float32)


def as_shifted_sines(times, width, shortest, longest):
    """cos(a) = sin(a + π/2): a quarter of a turn."""
    columns = torch.arange(width)
    periods = shortest * (longest / shortest) ** ((columns // 2) / (width / 2 - 1))
    return torch.sin(2 * math.pi * (times[:, None] / periods + 0.25 * (columns % 2)))


# PyTorch's own
OWN = [
    by_complex_numbers,
]
CORRECT = [
    *OWN,
    by_exp_and_log,
    by_numpy,
    as_shifted_sines,
]
INPUTS = {
    "times": lambda draw: draw.between("N", 0, 20),
    "width": lambda draw: 2 * draw.randint(2, 6),
    "shortest": lambda draw: draw.choice([4.0, 7.0, 10.0]),
    "longest": lambda draw: draw.choice([30.0, 100.0, 800.0]),
}
