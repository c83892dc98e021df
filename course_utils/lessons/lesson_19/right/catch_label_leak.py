"""Right answers to 19.catch_label_leak in other styles than the solution's: all pairs at once, many draws, NumPy, loops."""

import numpy as np
import torch


def which_label_moves_what(model):
    """A table of which label moves which step: nothing on the diagonal and above, something in each row below it."""
    draw = torch.Generator().manual_seed(3)
    for T in (10, 1, 2):
        inputs, labels = torch.randn(T, 3, generator=draw), torch.randint(5, (T,), generator=draw)
        table = torch.zeros(T, T)
        try:
            before = model(inputs, labels)
            for s in range(T):
                for c in range(5):
                    given = torch.where(torch.arange(T) == s, c, labels)
                    table[:, s] = torch.maximum(table[:, s], (model(inputs, given) - before).abs().amax(-1))
        except Exception:
            return False
        if (table.triu() > 1e-5).any() or (table.tril(-1).amax(1)[1:] < 3e-5).any():
            return False
    return True


def leaks_and_blindness_apart(model):
    """All labels from s on are drawn anew, many times; then those before t are set one at a time."""
    torch.manual_seed(1)
    try:
        for T in (1, 3, 10):
            inputs, labels = torch.randn(T, 3), torch.randint(0, 5, (T,))
            before = model(inputs, labels)
            for s in range(T):
                for _ in range(5):
                    new = torch.cat([labels[:s], torch.randint(0, 5, (T - s,))])
                    if not torch.allclose(model(inputs, new)[: s + 1], before[: s + 1], rtol=0, atol=1e-5):
                        return False
            blind = set(range(1, T))
            for s in range(T):
                for c in range(5):
                    new = labels.clone()
                    new[s] = c
                    off = (model(inputs, new) - before).abs().max(1).values
                    blind -= set((off > 1e-5).nonzero().flatten().tolist())
            if blind:
                return False
        return True
    except Exception:
        return False


def by_numpy(model):
    rng = np.random.default_rng(2)
    try:
        for T in (1, 10):
            inputs, labels = rng.normal(size=(T, 3)).astype(np.float32), rng.integers(0, 5, T)
            run = lambda labels, inputs=inputs: model(torch.tensor(inputs), torch.tensor(labels)).numpy()  # noqa: E731
            before, seen = run(labels), np.zeros(T, bool)
            for s, c in np.ndindex(T, 5):
                changed = labels.copy()
                changed[s] = c
                off = np.abs(run(changed) - before).max(1)
                if (off[: s + 1] > 1e-5).any():
                    return False
                seen |= off > 1e-5
            if not seen[1:].all():
                return False
    except Exception:
        return False
    return True


def as_beginners_write(model):
    torch.manual_seed(0)
    for T in [1, 10]:
        inputs = torch.randn(T, 3)
        labels = torch.randint(0, 5, (T,))
        depends = [False] * T
        try:
            before = model(inputs, labels)
            for s in range(T):
                for c in range(5):
                    new_labels = labels.clone()
                    new_labels[s] = c
                    after = model(inputs, new_labels)
                    for t in range(T):
                        if ((after[t] - before[t]).abs() > 0.00001).any():
                            if s >= t:
                                return False
                            depends[t] = True
        except Exception:
            return False
        if False in depends[1:]:
            return False
    return True


NONE_OF_ITS_OWN = "A model is tested by what moves when labels change."
RIGHT = [
    which_label_moves_what,
    leaks_and_blindness_apart,
    by_numpy,
    # As beginners write them
    as_beginners_write,
]
