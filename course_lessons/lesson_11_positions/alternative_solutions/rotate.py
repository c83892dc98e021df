"""Correct answers to 11.rotate in other styles than the solution's."""

import math

import torch


def by_complex_numbers(x, start):
    """A turn is a product with a number on the unit circle."""
    B, T, D = x.shape
    frequency = 1.0 / 10000 ** (torch.arange(0, D, 2).to(x.dtype) / D)
    angles = torch.outer(torch.arange(start, start + T).to(x.dtype), frequency)
    turned = torch.complex(*x.chunk(2, -1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], -1)


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
CORRECT = [
    *OWN,
    filled_in,
    # As beginners write them
    with_loops,
]
SIZES = {"D": lambda draw: 2 * draw.randint(1, 3)}
INPUTS = {"start": lambda draw: draw.randint(0, 40)}
