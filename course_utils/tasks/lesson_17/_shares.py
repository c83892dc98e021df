"""What the tasks on a memory's places share: weights of a head that leaves something over. No task is declared here."""

import torch


def shares(draw, *shape, dtype=torch.float32):
    """Return weights above 0 that sum to less than 1 along the last axis."""
    counts = draw.whole(1, 7, *shape).to(dtype)
    return counts / (counts.sum(-1, keepdim=True) + draw.whole(1, 4, *shape[:-1], 1))


def links(draw, B, N, dtype=torch.float32):
    """Return links B×N×N as steps leave them: above 0, rows and columns that sum to less than 1, a diagonal of zeros."""
    counts = draw.whole(1, 7, B, N, N).to(dtype) * (1 - torch.eye(N, dtype=dtype))
    return counts / (torch.maximum(counts.sum(1), counts.sum(2)).amax(1) + 1)[:, None, None]
