"""Correct answers to 09.sees_order in other styles than the solution's."""

from itertools import combinations

import torch


def pair_by_pair(model):
    """Every order is made of pairs that change places."""
    g = torch.Generator().manual_seed(1)
    for T in range(2, 13):
        x = torch.randn(T, 4, generator=g)
        before = model(x)
        for i, j in combinations(range(T), 2):
            order = torch.arange(T)
            order[i], order[j] = j, i
            if not torch.allclose(model(x[order])[order], before, rtol=1e-5, atol=1e-5):
                return True
    return False


def with_a_flag(model):
    torch.manual_seed(0)
    notices = False
    for T in range(2, 13):
        for _ in range(5):
            x, order = torch.randn(T, 4), torch.randperm(T).tolist()
            before, after = model(x), model(torch.stack([x[i] for i in order]))
            for new, old in enumerate(order):
                for d in range(4):
                    if abs(after[new, d].item() - before[old, d].item()) > 1e-5:
                        notices = True
    return notices


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change places."
CORRECT = [pair_by_pair, with_a_flag]
