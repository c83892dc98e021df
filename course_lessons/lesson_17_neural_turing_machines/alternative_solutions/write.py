"""Correct answers to 17.write in other styles than the solution's."""

import torch


def by_bmm(memory, weights, erase, add):
    column = weights.unsqueeze(-1)
    return memory * (1 - torch.bmm(column, erase.unsqueeze(1))) + torch.bmm(column, add.unsqueeze(1))


def place_by_place(memory, weights, erase, add):
    B, N, W = memory.shape
    new_memory = torch.zeros(B, N, W, dtype=memory.dtype)
    for b in range(B):
        for n in range(N):
            for i in range(W):
                erased = memory[b, n, i] * (1 - weights[b, n] * erase[b, i])
                new_memory[b, n, i] = erased + weights[b, n] * add[b, i]
    return new_memory


# PyTorch's own
OWN = [
    by_bmm,
]
CORRECT = [
    *OWN,
    # As beginners write them
    place_by_place,
]
WORKED = [(([[[4, 2], [6, 8]]], [[0.5, 0.25]], [[1, 0]], [[2, -4]]), "3 0 5 7")]
