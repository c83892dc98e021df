"""Right answers to 17.catch_wrong_write in other styles than the solution's: many draws, one einsum, NumPy, loops."""

import random

import numpy as np
import torch


def many_draws(candidate):
    """Other sizes at each draw."""
    draw = torch.Generator().manual_seed(7)
    for B, N, W in ((2, 3, 5), (3, 7, 2), (1, 4, 6), (4, 5, 3)):
        memory, add = torch.randn(B, N, W, generator=draw), 3 * torch.randn(B, W, generator=draw)
        weights = torch.randn(B, N, generator=draw).softmax(1) * torch.rand(B, 1, generator=draw)
        erase = torch.rand(B, W, generator=draw)
        w = weights.unsqueeze(-1)
        right = memory * (1 - w * erase.unsqueeze(1)) + w * add.unsqueeze(1)
        copies = [given.clone() for given in (memory, weights, erase, add)]
        try:
            came = candidate(memory, weights, erase, add)
            if came.shape != right.shape or not ((came - right).abs() < 1e-5).all():
                return False
        except Exception:
            return False
        if any(not torch.equal(a, b) for a, b in zip(copies, (memory, weights, erase, add), strict=True)):
            return False
    return True


def by_einsum(candidate):
    torch.manual_seed(3)
    args = [torch.randn(3, 6, 4), torch.rand(3, 6) / 6, torch.rand(3, 4), 5 * torch.randn(3, 4)]
    outer = [torch.einsum("bn,bw->bnw", args[1], vectors) for vectors in args[2:]]
    right = args[0] - args[0] * outer[0] + outer[1]
    given = [arg.clone() for arg in args]
    try:
        torch.testing.assert_close(candidate(*given), right, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(given, args, atol=0, rtol=0)
    except (Exception, AssertionError):
        return False
    return True


def by_numpy(candidate):
    rng = np.random.default_rng(1)
    memory, add = rng.normal(size=(2, 4, 3)), 2 * rng.normal(size=(2, 3))
    weights, erase = rng.uniform(0, 0.2, (2, 4)), rng.uniform(size=(2, 3))
    right = memory * (1 - weights[..., None] * erase[:, None]) + weights[..., None] * add[:, None]
    given = [torch.tensor(each, dtype=torch.float32) for each in (memory, weights, erase, add)]
    before = [each.numpy().copy() for each in given]
    try:
        came = candidate(*given).numpy()
    except Exception:
        return False
    unaltered = all(np.array_equal(each.numpy(), old) for each, old in zip(given, before, strict=True))
    return bool(came.shape == right.shape and np.allclose(came, right, atol=1e-5) and unaltered)


def as_beginners_write(candidate):
    random.seed(0)
    memory = torch.tensor([[[random.uniform(-2, 2) for _ in range(2)] for _ in range(5)] for _ in range(3)])
    weights = torch.tensor([[random.uniform(0, 0.2) for _ in range(5)] for _ in range(3)])
    erase = torch.tensor([[random.random() for _ in range(2)] for _ in range(3)])
    add = torch.tensor([[random.uniform(-3, 3) for _ in range(2)] for _ in range(3)])
    old = [memory.clone(), weights.clone(), erase.clone(), add.clone()]
    try:
        new = candidate(memory, weights, erase, add)
        if list(new.shape) != [3, 5, 2]:
            return False
        for b in range(3):
            for n in range(5):
                for i in range(2):
                    x = old[0][b][n][i]
                    x = x - x * old[1][b][n] * old[2][b][i]
                    x = x + old[1][b][n] * old[3][b][i]
                    if not abs(new[b][n][i] - x) < 0.00001:
                        return False
    except Exception:
        return False
    same = [torch.equal(memory, old[0]), torch.equal(weights, old[1]), torch.equal(erase, old[2])]
    return same == [True, True, True] and torch.equal(add, old[3])


def any_weights(candidate):
    """As the prompt alone suggests: weights that are not made to sum to anything, and a look at the memory alone."""
    draw = torch.Generator().manual_seed(4)
    memory, add = torch.randn(3, 5, 4, generator=draw), torch.randn(3, 4, generator=draw)
    weights, erase = torch.rand(3, 5, generator=draw), torch.rand(3, 4, generator=draw)
    w, given = weights[..., None], memory.clone()
    expected = memory * (1 - w * erase[:, None]) + w * add[:, None]
    try:
        came = candidate(given, weights, erase, add)
        return came.shape == expected.shape and torch.allclose(came, expected, atol=1e-5) and torch.equal(given, memory)
    except Exception:
        return False


# PyTorch's own
OWN = [
    by_einsum,
]
RIGHT = [*OWN, many_draws, by_numpy, as_beginners_write, any_weights]
