"""Inputs that the tasks on gates share. No task is declared here."""

import torch

from course_utils.tasks.lesson_17._drawn import drawn_weights


def drawn_logits(draw, B, N, dtype=torch.float32):
    """Return logits B×N of either sign, no two of a row equal, and none 0."""
    rows = [draw.distinct(N, -N - 2, N + 2) for _ in range(B)]
    return (torch.stack(rows).to(dtype) + 0.5) * (3 / (N + 2))


def sparse_gates(draw, B, N, k, dtype=torch.float32):
    """Return gates B×N that sum to 1 in each row, k of them above 0."""
    kept = torch.stack([draw.distinct(N, 0, N) for _ in range(B)]) < k
    gates = drawn_weights(draw, B, N, dtype) * kept
    return gates / gates.sum(1, keepdim=True)
