"""Right answers to 09.catch_leak in other styles than the solution's: zeros behind, output by output, gradients in numbers, loops."""

import numpy as np
import torch


def by_zeros_and_noise(model):
    """Two changes of all later rows at once, and all outputs compared through the largest difference."""
    g = torch.Generator().manual_seed(3)
    for T in reversed(range(1, 13)):
        x = torch.randn(T, 4, generator=g)
        for t in range(T):
            for later in (torch.zeros(T - t - 1, 4), torch.randn(T - t - 1, 4, generator=g)):
                try:
                    apart = (model(torch.cat((x[: t + 1], later))) - model(x))[: t + 1].abs().max()
                except Exception:
                    return False
                if not apart < 1e-5:
                    return False
    return True


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


def row_by_row(model):
    """One later row after another is changed: the rows that move are looked at."""
    g = torch.Generator().manual_seed(11)
    try:
        for T in range(1, 13):
            for _ in range(2):
                x = torch.randn(T, 4, generator=g)
                before = model(x)
                if torch.isnan(before).any():
                    return False
                for place in range(T):
                    changed = x.clone()
                    changed[place] += 2 * torch.randn(4, generator=g)
                    moved = ((model(changed) - before).abs() > 1e-5).any(1)
                    if moved[:place].any():
                        return False
    except Exception:
        return False
    return True


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


def three_lengths(model):
    draw = torch.Generator().manual_seed(4)
    try:
        for T in (1, 5, 12):
            x = torch.randn(T, 4, generator=draw)
            y = model(x.clone())
            if y.shape != x.shape or not y.isfinite().all():
                return False
            for t in range(T - 1):
                changed = torch.cat([x[: t + 1], torch.randn(T - t - 1, 4, generator=draw)])
                if not torch.allclose(model(changed)[: t + 1], y[: t + 1], rtol=0, atol=5e-5):
                    return False
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change."
RIGHT = [
    by_zeros_and_noise,
    output_by_output,
    row_by_row,
    # As beginners write them
    with_a_flag,
    # As the prompt alone suggests
    three_lengths,
]
