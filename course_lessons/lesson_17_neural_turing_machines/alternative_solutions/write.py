"""Correct answers to 17.write in other styles than the solution's."""

import torch


def by_bmm(memory, weights, erase, add):
    column = weights.unsqueeze(-1)
    return memory * (1 - torch.bmm(column, erase.unsqueeze(1))) + torch.bmm(column, add.unsqueeze(1))


def place_by_place(memory, weights, erase, add):
    new_memory = torch.zeros_like(memory)
    for b in range(memory.shape[0]):
        for n in range(memory.shape[1]):
            for i in range(memory.shape[2]):
                erased = memory[b, n, i] * (1 - weights[b, n] * erase[b, i])
                new_memory[b, n, i] = erased + weights[b, n] * add[b, i]
    return new_memory


OWN = [by_bmm]
CORRECT = [*OWN, place_by_place]
WORKED = [(([[[4, 2], [6, 8]]], [[0.5, 0.25]], [[1, 0]], [[2, -4]]), "3 0 5 7")]
