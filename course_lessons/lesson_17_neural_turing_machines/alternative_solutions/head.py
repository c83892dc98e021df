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


def number_by_number(memory, previous, key, strength, gate, kernel, gamma):
    N, K, rows = previous.shape[1], kernel.shape[1], []
    for b in range(len(previous)):
        lengths = [memory[b, n].square().sum().sqrt() * key[b].square().sum().sqrt() for n in range(N)]
        scores = [strength[b] * (memory[b, n] * key[b]).sum() / lengths[n] for n in range(N)]
        content = torch.softmax(torch.stack(scores), 0)
        moved = [0.0] * N
        for n in range(N):
            for k in range(K):
                goal = (n + k - K // 2) % N
                mixed = gate[b] * content[n] + (1 - gate[b]) * previous[b, n]
                moved[goal] = moved[goal] + kernel[b, k] * mixed
        powers = torch.stack([weight ** gamma[b] for weight in moved])
        rows.append(powers / powers.sum())
    return torch.stack(rows)


OWN = [with_layers_and_conv1d]
CORRECT = [*OWN, number_by_number]
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
