"""Inputs that the tasks on gates share. No task is declared here."""

import torch


def sparse_gates(draw, B, N, k, dtype=torch.float32):
    """Return gates B×N that sum to 1 in each row, k of them above 0 and no two of these equal."""
    kept = torch.stack([draw.distinct(N, 0, N) for _ in range(B)]) < k
    counts = torch.stack([draw.distinct(N, 1, N + 6) for _ in range(B)]).to(dtype)
    gates = counts / counts.sum(-1, keepdim=True) * kept
    return gates / gates.sum(1, keepdim=True)
