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


def with_loops(x, start):
    B, T, D = x.shape
    result = torch.zeros_like(x)
    for t in range(T):
        for i in range(D // 2):
            angle = (start + t) * 10000 ** (-2 * i / D)
            for n in range(B):
                a, b = x[n, t, i], x[n, t, i + D // 2]
                result[n, t, i] = a * math.cos(angle) - b * math.sin(angle)
                result[n, t, i + D // 2] = a * math.sin(angle) + b * math.cos(angle)
    return result


OWN = [by_complex_numbers]
CORRECT = [*OWN, with_loops]
SIZES = {"D": lambda draw: 2 * draw.randint(1, 3)}
INPUTS = {"start": lambda draw: draw.randint(0, 40)}
