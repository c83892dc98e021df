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
    for T in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]:
        x = torch.randn(T, 4)
        try:
            y = model(x)
            for t in range(T):
                x2 = x.clone()
                for i in range(t + 1, T):
                    x2[i] = torch.randn(4)
                y2 = model(x2)
                for i in range(t + 1):
                    if not torch.all(torch.abs(y[i] - y2[i]) < 0.00001):
                        ok = False
        except Exception:
            ok = False
    return ok


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change."
CORRECT = [
    output_by_output,
    # As beginners write them
    with_a_flag,
]
