"""Correct answers to 03.influence in other styles than the solution's."""

import numpy as np
import torch


def one_feature_after_another(function, x):
    result = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for s in range(x.shape[1]):
        for d in range(x.shape[2]):
            changed = x.clone()
            changed[:, s, d] += 1.0
            result[:, s] |= ((function(changed) - function(x)).abs() > 1e-5).sum((0, 2)) > 0
    return result


def by_numpy(function, x):
    before, rows = function(x).numpy(), []
    for s in range(x.shape[1]):
        changed = x.numpy().copy()
        changed[:, s] = np.random.default_rng(s).normal(size=changed[:, s].shape)
        after = function(torch.from_numpy(changed)).numpy()
        rows.append([not np.allclose(after[:, t], before[:, t], atol=1e-5) for t in range(x.shape[1])])
    return torch.tensor(rows).T


NONE_OF_ITS_OWN = "Gradients would tell it, but none passes through the functions that are given."
CORRECT = [one_feature_after_another, by_numpy]
