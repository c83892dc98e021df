"""Right answers to 03.influence in other styles than the solution's: loops, one batch of all changes, other changes."""

import numpy as np
import torch


def number_by_number(function, x):
    T = x.shape[1]
    result = torch.zeros(T, T, dtype=torch.bool)
    before = function(x)
    for s in range(T):
        for t in range(T):
            changed = x.clone()
            changed[:, s, :] = torch.randn(x.shape[0], x.shape[2])
            if not torch.allclose(function(changed)[:, t], before[:, t], atol=1e-5):
                result[t, s] = True
    return result


def all_changes_in_one_batch(function, x):
    B, T, D = x.shape
    changes = torch.einsum("st,btd->sbtd", torch.eye(T), torch.randn(B, T, D))
    after = function((x + changes).flatten(0, 1)).unflatten(0, (T, B))
    return ((after - function(x)).abs() > 1e-5).any(-1).any(1).T


def compared_with_the_round_before(function, x):
    changed, result = x.clone(), []
    last = function(changed)
    for s in range(x.shape[1]):
        changed[:, s] += torch.randn(x.shape[2])
        now = function(changed)
        result.append((now - last).abs().amax((0, 2)) > 1e-5)
        last = now
    return torch.stack(result, dim=1)


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
RIGHT = [
    number_by_number,
    all_changes_in_one_batch,
    compared_with_the_round_before,
    one_feature_after_another,
    by_numpy,
]
