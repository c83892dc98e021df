"""Correct answers to 09.catch_leak in other styles than the solution's."""

import numpy as np
import torch


def output_by_output(model):
    """Row t of the output alone is compared at each t."""
    rng = np.random.default_rng(7)
    try:
        for T in range(1, 14):
            x, other = (torch.tensor(rng.normal(size=(T, 4)), dtype=torch.float32) for _ in range(2))
            right = model(x).numpy()
            for t in range(T):
                mixed = torch.where(torch.arange(T)[:, None] > t, other, x)
                np.testing.assert_allclose(model(mixed)[t].numpy(), right[t], rtol=1e-5, atol=1e-5)
        return not np.isnan(right).any()
    except Exception:
        return False


def with_a_flag(model):
    torch.manual_seed(2)
    ok = True
    try:
        for T in range(1, 13):
            x = torch.randn(T, 4)
            y = model(x)
            for t in range(T):
                changed = x.clone()
                changed[t + 1 :] = torch.randn(T - t - 1, 4)
                new = model(changed)
                for i in range(t + 1):
                    if not torch.all(torch.abs(y[i] - new[i]) < 0.00001):
                        ok = False
    except Exception:
        ok = False
    return ok


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change."
CORRECT = [output_by_output, with_a_flag]
