"""Correct answers to 17.catch_wrong_write in other styles than the solution's."""

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
    torch.manual_seed(0)
    memory, weights, erase, add = torch.randn(3, 5, 2), torch.rand(3, 5) / 5, torch.rand(3, 2), torch.randn(3, 2)
    given = [memory.clone(), weights.clone(), erase.clone(), add.clone()]
    try:
        new = candidate(*given)
        if list(new.shape) != [3, 5, 2]:
            return False
        for b in range(3):
            for n in range(5):
                for i in range(2):
                    kept = memory[b][n][i] * (1 - weights[b][n] * erase[b][i])
                    if not abs(new[b][n][i] - kept - weights[b][n] * add[b][i]) < 0.00001:
                        return False
    except Exception:
        return False
    same = [torch.equal(memory, given[0]), torch.equal(weights, given[1]), torch.equal(erase, given[2])]
    return same == [True, True, True] and torch.equal(add, given[3])


OWN = [by_einsum]
CORRECT = [*OWN, as_beginners_write]
