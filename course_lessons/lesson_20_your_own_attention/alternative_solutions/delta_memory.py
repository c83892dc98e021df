"""Correct answers to 20.delta_memory in other styles than the solution's."""

import torch


def as_a_triangular_system(key, value, query, rate):
    """All that is written solves (1 + β K Kᵀ below the diagonal) U = β V; then all is read at once."""
    T, beta = key.shape[1], rate[:, :, None]
    before = (beta * (key @ key.mT)).tril(-1) + torch.eye(T).to(key)
    written = torch.linalg.solve_triangular(before, beta * value, upper=False)
    return (query @ key.mT).tril() @ written


def number_by_number(key, value, query, rate):
    B, T, D = key.shape
    result = torch.zeros_like(value)
    for b in range(B):
        for e in range(value.shape[2]):  # each number of the value has a memory of D numbers
            memory = [torch.zeros((), dtype=value.dtype)] * D
            for t in range(T):
                difference = value[b, t, e] - sum(memory[d] * key[b, t, d] for d in range(D))
                memory = [memory[d] + rate[b, t] * key[b, t, d] * difference for d in range(D)]
                result[b, t, e] = sum(memory[d] * query[b, t, d] for d in range(D))
    return result


OWN = [as_a_triangular_system]
CORRECT = [*OWN, number_by_number]
WORKED = [(([[[1, 0], [1, 0]]], [[[4], [10]]], [[[1, 0], [1, 0]]], [[1, 0.5]]), "4 7")]
