"""Right answers to 03.causal_mask in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import functools

import numpy as np
import torch
from torch import nn


def causal_in_a_zero_buffer(size):
    mask = torch.zeros(size, size)
    for t in range(size):
        for s in range(size):
            if s <= t:
                mask[t, s] = 1.0
    return mask.bool()


def causal_by_clearing_the_later(size):
    mask = torch.ones(size, size, dtype=torch.bool)
    for t in range(size):
        mask[t, t + 1 :] = False
    return mask


def causal_by_lists_of_rows(size):
    rows = []
    for t in range(size):
        row = []
        for s in range(size):
            if s > t:
                row.append(False)
            else:
                row.append(True)
        rows.append(torch.tensor(row))
    return torch.stack(rows)


def causal_by_numpy(size):
    return torch.from_numpy(np.tril(np.ones((size, size)))) > 0


@functools.lru_cache
def cached_causal(size):
    return torch.ones(size, size).tril().to(torch.bool)


def causal_row_by_row(size):
    mask = torch.zeros((size, size), dtype=bool)
    for i in range(size):
        mask[i, : i + 1] = True
    return mask


# PyTorch's own
OWN = [
    lambda size: nn.Transformer.generate_square_subsequent_mask(size) == 0,
]
RIGHT = [
    *OWN,
    lambda size: torch.arange(size)[None] <= torch.arange(size)[:, None],
    lambda n: ~torch.triu(torch.ones(n, n), diagonal=1).bool(),
    lambda n: torch.tril(torch.ones(n, n)) == 1,
    lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
    # As beginners write them
    causal_in_a_zero_buffer,
    causal_by_clearing_the_later,
    causal_by_lists_of_rows,
    causal_by_numpy,
    # In odd styles
    cached_causal,
    causal_row_by_row,
    lambda size: torch.from_numpy(np.tril(np.ones((size, size), dtype=bool))),
    lambda size: torch.triu(torch.full((size, size), True)).T,
    lambda size: torch.eye(size).cumsum(0).bool(),
    lambda size: torch.ones(size, size).cumsum(1) <= torch.arange(1, size + 1)[:, None],
]
