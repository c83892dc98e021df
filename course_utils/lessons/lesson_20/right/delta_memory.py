"""Right answers to 20.delta_memory in other styles than the solution's: E×D memories, einsum, a triangular system, loops."""

import torch


def turned_memory(key, value, query, rate):
    """The memory is E×D, as in the paper."""
    memory, read = torch.zeros(len(key), value.shape[2], key.shape[2], dtype=key.dtype), []
    for k, v, q, beta in zip(key.unbind(1), value.unbind(1), query.unbind(1), rate.unbind(1), strict=True):
        old = torch.bmm(memory, k.unsqueeze(2)).squeeze(2)
        new = beta[:, None] * v + (1 - beta[:, None]) * old
        memory = memory + torch.bmm((new - old).unsqueeze(2), k.unsqueeze(1))
        read.append(torch.bmm(memory, q.unsqueeze(2)).squeeze(2))
    return torch.stack(read, dim=1)


def taken_away_then_added(key, value, query, rate):
    """S (1 - β k kᵀ) first, then β k vᵀ."""
    D = key.shape[2]
    memory, read = key.new_zeros(len(key), D, value.shape[2]), []
    for t in range(key.shape[1]):
        k, beta = key[:, t], rate[:, t].reshape(-1, 1, 1)
        memory = (torch.eye(D).to(key) - beta * torch.einsum("bd,bf->bdf", k, k)) @ memory
        memory = memory + beta * torch.einsum("bd,be->bde", k, value[:, t])
        read.append(torch.einsum("bd,bde->be", query[:, t], memory))
    return torch.stack(read, 1)


def as_a_triangular_system(key, value, query, rate):
    """All that is written solves (1 + β K Kᵀ below the diagonal) U = β V; then all is read at once."""
    T, beta = key.shape[1], rate[:, :, None]
    before = (beta * (key @ key.mT)).tril(-1) + torch.eye(T).to(key)
    written = torch.linalg.solve_triangular(before, beta * value, upper=False)
    return (query @ key.mT).tril() @ written


def sequence_by_sequence(key, value, query, rate):
    results = []
    for b in range(key.shape[0]):
        S = torch.zeros(key.shape[2], value.shape[2], dtype=key.dtype)
        rows = []
        for t in range(key.shape[1]):
            S = S + rate[b, t] * torch.outer(key[b, t], value[b, t] - S.T @ key[b, t])
            rows.append(S.T @ query[b, t])
        results.append(torch.stack(rows))
    return torch.stack(results)


def number_by_number(key, value, query, rate):
    B, T, D = key.shape
    E = value.shape[2]
    result = torch.zeros(B, T, E, dtype=value.dtype)
    for b in range(B):
        for e in range(E):  # each number of the value has a memory of D numbers
            memory = [torch.zeros((), dtype=value.dtype) for _ in range(D)]
            for t in range(T):
                old = sum(memory[d] * key[b, t, d] for d in range(D))
                difference = value[b, t, e] - old
                memory = [memory[d] + rate[b, t] * key[b, t, d] * difference for d in range(D)]
                result[b, t, e] = sum(memory[d] * query[b, t, d] for d in range(D))
    return result


# PyTorch's own
OWN = [
    as_a_triangular_system,
]
RIGHT = [
    *OWN,
    turned_memory,
    taken_away_then_added,
    sequence_by_sequence,
    # As beginners write them
    number_by_number,
]
WORKED = [(([[[1, 0], [1, 0]]], [[[4], [10]]], [[[1, 0], [1, 0]]], [[1, 0.5]]), "4 7")]
