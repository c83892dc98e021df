"""Correct answers to 11.sinusoidal_positions in other styles than the solution's."""

import math

import torch


def by_complex_numbers(times, width, shortest, longest):
    share = torch.arange(width // 2) / (width // 2 - 1)
    angles = 2 * torch.pi * torch.outer(times.float(), 1 / (shortest ** (1 - share) * longest**share))
    hands = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(hands).flip(-1).flatten(1)


def as_shifted_sines(times, width, shortest, longest):
    """cos(a) = sin(a + π/2): a quarter of a turn."""
    columns = torch.arange(width)
    periods = shortest * (longest / shortest) ** ((columns // 2) / (width / 2 - 1))
    return torch.sin(2 * math.pi * (times[:, None] / periods + 0.25 * (columns % 2)))


OWN = [by_complex_numbers]
CORRECT = [*OWN, as_shifted_sines]
INPUTS = {
    "times": lambda draw: draw.between("N", 0, 20),
    "width": lambda draw: 2 * draw.randint(2, 6),
    "shortest": lambda draw: draw.choice([4.0, 7.0, 10.0]),
    "longest": lambda draw: draw.choice([30.0, 100.0, 800.0]),
}
