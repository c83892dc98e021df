"""Correct answers to 17.catch_wrong_write in other styles than the solution's."""

import random

import torch


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


# PyTorch's own
OWN = [
    by_einsum,
]
CORRECT = [
    *OWN,
    as_beginners_write,
]
