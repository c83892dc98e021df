"""Right answers to 04.two_projections: other pairs of projections than the solution's."""

import numpy as np
import torch


def by_svd(weight):
    left, values, right = torch.linalg.svd(weight, full_matrices=False)
    return (left * values.sqrt()).T, values.sqrt()[:, None] * right


def a_turned_pair(weight):
    draw = torch.Generator().manual_seed(0)
    turn = torch.linalg.qr(torch.randn(len(weight), len(weight), generator=draw, dtype=weight.dtype))[0]
    return turn, turn @ weight


def by_numpy(weight):
    left, values, right = np.linalg.svd(weight.detach().numpy(), full_matrices=False)
    return torch.from_numpy((left * values).T.copy()), torch.from_numpy(right)


def by_loops(weight):
    D, E = weight.shape
    weight_s, weight_h = torch.zeros(D * E, D), torch.zeros(D * E, E)
    for d in range(D):
        for e in range(E):
            weight_s[d * E + e, d], weight_h[d * E + e, e] = 1, weight[d, e]
    return [weight_s, weight_h]


# PyTorch's own
OWN = [
    by_svd,
]
RIGHT = [
    *OWN,
    a_turned_pair,
    by_numpy,
    by_loops,
    lambda W: (W.T, torch.eye(W.shape[1], dtype=W.dtype)),
    lambda W: (torch.eye(len(W)) / 2, 2 * W),
]
