"""Correct answers to 19.catch_label_leak in other styles than the solution's."""

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


def as_beginners_write(model):
    torch.manual_seed(0)
    for T in [1, 10]:
        inputs, labels = torch.randn(T, 3), torch.randint(0, 5, (T,))
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
                            depends[t] = True
                            if s >= t:
                                return False
        except Exception:
            return False
        if False in depends[1:]:
            return False
    return True


NONE_OF_ITS_OWN = "A model is tested by what moves when labels change."
CORRECT = [which_label_moves_what, as_beginners_write]
