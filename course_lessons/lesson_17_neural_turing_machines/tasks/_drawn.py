"""Inputs that the tasks share: weights of a head, gates and links. No task is declared here."""

import torch


def drawn_weights(draw, B, N, dtype=torch.float32):
    """Return weights B×N that sum to 1 in each row, none of them 0 and no two of a row equal."""
    counts = torch.stack([draw.distinct(N, 1, N + 6) for _ in range(B)]).to(dtype)
    return counts / counts.sum(-1, keepdim=True)


def drawn_gates(draw, *shape, dtype=torch.float32):
    """Return numbers between 0 and 1: eighths, and never a half, so that a gate that is turned round shows."""
    eighths = torch.tensor([1, 2, 3, 5, 6, 7], dtype=dtype)
    return eighths[draw.whole(0, 6, *shape)] / 8


def one_hot(draw, B, N):
    """Return weights B×N that are 1 at one place in each row, and are 0 elsewhere."""
    return torch.nn.functional.one_hot(draw.whole(0, N, B), N).float()


def shares(draw, *shape, dtype=torch.float32):
    """Return weights above 0 that sum to less than 1 along the last axis."""
    counts = draw.whole(1, 7, *shape).to(dtype)
    return counts / (counts.sum(-1, keepdim=True) + draw.whole(1, 4, *shape[:-1], 1))


def links(draw, B, N, dtype=torch.float32):
    """Return links B×N×N as steps leave them: above 0, rows and columns that sum to less than 1, a diagonal of zeros."""
    counts = draw.whole(1, 7, B, N, N).to(dtype) * (1 - torch.eye(N, dtype=dtype))
    return counts / (torch.maximum(counts.sum(1), counts.sum(2)).amax(1) + 1)[:, None, None]
