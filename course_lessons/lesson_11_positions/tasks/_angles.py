"""What the tasks on angles share: the frequencies. No task is declared here."""

import torch

BASE = 10_000


def frequencies(width):
    """10,000^(-2i/D) for each pair i: D/2."""
    return BASE ** (-torch.arange(0, width, 2).double() / width)


def interleaved(even, odd):
    """One table of two: their columns in turn."""
    return torch.stack([even, odd], -1).flatten(-2)
