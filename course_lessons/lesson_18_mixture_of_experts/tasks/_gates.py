"""Inputs that the tasks on gates share. No task is declared here."""

import torch


def drawn_weights(draw, B, N, dtype=torch.float32):
    """Return gates B×N that sum to 1 in each row, none of them 0 and no two of a row equal."""
    counts = torch.stack([draw.distinct(N, 1, N + 6) for _ in range(B)]).to(dtype)
    return counts / counts.sum(-1, keepdim=True)


def sparse_gates(draw, B, N, k, dtype=torch.float32):
    """Return gates B×N that sum to 1 in each row, k of them above 0."""
    kept = torch.stack([draw.distinct(N, 0, N) for _ in range(B)]) < k
    gates = drawn_weights(draw, B, N, dtype) * kept
    return gates / gates.sum(1, keepdim=True)
