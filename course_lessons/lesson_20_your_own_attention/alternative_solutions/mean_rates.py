"""Correct answers to 20.mean_rates in other styles than the solution's."""

import torch


def by_a_mask(key):
    T = key.shape[1]
    same = (key.unsqueeze(1) == key.unsqueeze(2)) & torch.ones(T, T, dtype=torch.bool).tril()
    return same.float().sum(-1).reciprocal()


def by_the_rates_before(key):
    """1/β grows by 1 each time a key comes again."""
    rates = torch.ones(key.shape)
    for t in range(key.shape[1]):
        for s in range(t):
            again = key[:, s] == key[:, t]
            rates[:, t] = torch.where(again, 1 / (1 / rates[:, s] + 1), rates[:, t])
    return rates


NONE_OF_ITS_OWN = "PyTorch has no function that counts how often a number came so far."
CORRECT = [by_a_mask, by_the_rates_before]
INPUTS = {"key": lambda draw: torch.tensor([[draw.randint(0, 3) for _ in range(8)] for _ in range(3)])}
WORKED = [(([[1, 1, 1]],), "1 0.5 0.3333")]
