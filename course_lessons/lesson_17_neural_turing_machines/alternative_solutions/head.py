"""Correct answers to 17.head in other styles than the solution's."""

import torch
from torch import nn


def with_layers_and_conv1d(memory, previous, key, strength, gate, kernel, gamma):
    B, N, K = *previous.shape, kernel.shape[1]
    content = nn.Softmax(dim=1)(strength[:, None] * nn.CosineSimilarity(dim=-1)(memory, key[:, None]))
    mixed = torch.lerp(previous, content, gate[:, None])
    round_and_round = mixed[:, torch.arange(-(K // 2), N + K // 2) % N]  # B N+K-1
    moved = nn.functional.conv1d(round_and_round[None], kernel.flip(1)[:, None], groups=B)[0]
    return nn.functional.normalize(moved ** gamma[:, None], p=1, dim=1, eps=0.0)


def by_a_matrix_of_shifts(memory, previous, key, strength, gate, kernel, gamma):
    N, K = previous.shape[1], kernel.shape[1]
    unit = lambda vectors: vectors / vectors.norm(dim=-1, keepdim=True)  # noqa: E731
    content = torch.softmax(torch.einsum("bnw,bw,b->bn", unit(memory), unit(key), strength), -1)
    mixed = torch.einsum("b,bn->bn", gate, content) + torch.einsum("b,bn->bn", 1 - gate, previous)
    shifts = torch.stack([torch.eye(N, dtype=mixed.dtype).roll(k - K // 2, 0) for k in range(K)])  # K to from
    moved = torch.einsum("bk,kij,bj->bi", kernel, shifts, mixed)
    return (gamma[:, None] * moved.log()).softmax(-1)


def number_by_number(memory, previous, key, strength, gate, kernel, gamma):
    B, N = previous.shape
    K, rows = kernel.shape[1], []
    for b in range(B):
        scores = []
        for n in range(N):
            length = memory[b, n].square().sum().sqrt() * key[b].square().sum().sqrt()
            scores.append(strength[b] * (memory[b, n] * key[b]).sum() / length)
        content = torch.softmax(torch.stack(scores), 0)
        mixed = [gate[b] * content[n] + (1 - gate[b]) * previous[b, n] for n in range(N)]
        moved = [0.0] * N
        for n in range(N):
            for k in range(K):
                goal = (n + k - K // 2) % N
                moved[goal] = moved[goal] + kernel[b, k] * mixed[n]
        powers = torch.stack([weight ** gamma[b] for weight in moved])
        rows.append(powers / powers.sum())
    return torch.stack(rows)


# PyTorch's own
OWN = [
    with_layers_and_conv1d,
]
CORRECT = [
    *OWN,
    by_a_matrix_of_shifts,
    # As beginners write them
    number_by_number,
]
SIZES = {"K": lambda draw: draw.choice([1, 3, 5])}
INPUTS = {
    "previous": lambda draw: draw.probabilities("B×N"),
    "strength": lambda draw: draw.between("B", 0.5, 6),
    "gate": lambda draw: draw.between("B", 0.1, 0.9),
    "kernel": lambda draw: draw.probabilities("B×K"),
    "gamma": lambda draw: draw.between("B", 1, 4),
    "memory": lambda draw: draw.numbers("B×N×W", 0) + 0.01,
    "key": lambda draw: draw.numbers("B×W", 0) + 0.01,
}
WORKED = [
    (([[[1, 1]] * 5], [[1, 0, 0, 0, 0]], [[1, 1]], [1], [0], [[0, 0, 0.1, 0.2, 0.7]], [2]), "0.0185 0.0741 0.9074 0 0")
]
