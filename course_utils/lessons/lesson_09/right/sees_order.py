"""Right answers to 09.sees_order in other styles than the solution's: a matrix, pairs that change places, sorting back, loops."""

from itertools import combinations

import numpy as np
import torch


def by_a_matrix(model):
    g = torch.Generator().manual_seed(9)
    for T in range(2, 13):
        for _ in range(3):
            P = torch.eye(T)[torch.randperm(T, generator=g)]
            x = torch.randn(T, 4, generator=g)
            if (model(P @ x) - P @ model(x)).abs().max() > 1e-5:
                return True
    return False


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


def sorted_back(model):
    rng = np.random.default_rng(4)

    def apart(T):
        x, order = torch.tensor(rng.normal(size=(T, 4)), dtype=torch.float32), rng.permutation(T)
        back = np.argsort(order)
        return np.abs(model(x[order]).numpy()[back] - model(x).numpy()).max()

    return bool(max(apart(T) for T in range(1, 13) for _ in range(4)) > 1e-5)


def with_a_flag(model):
    torch.manual_seed(0)
    notices = False
    for T in range(2, 13):
        for _ in range(5):
            x = torch.randn(T, 4)
            order = torch.randperm(T).tolist()
            shuffled = torch.stack([x[i] for i in order])
            y = model(x)
            y2 = model(shuffled)
            for new, old in enumerate(order):
                for d in range(4):
                    if abs(y2[new, d].item() - y[old, d].item()) > 1e-5:
                        notices = True
    return notices


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change places."
RIGHT = [
    by_a_matrix,
    pair_by_pair,
    sorted_back,
    # As beginners write them
    with_a_flag,
]
