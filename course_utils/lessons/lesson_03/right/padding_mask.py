"""Right answers to 03.padding_mask in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import numpy as np
import torch
import torch.nn.functional as F


def padding_by_loop(lengths, size):
    mask = torch.zeros(len(lengths), size, dtype=torch.bool)
    for b, n in enumerate(lengths):
        mask[b, :n] = True
    return mask


def padding_in_a_zero_buffer(lengths, size):
    mask = torch.zeros(len(lengths), size)
    for b in range(len(lengths)):
        for s in range(size):
            if s < lengths[b]:
                mask[b, s] = 1
    return mask.bool()


def padding_by_lists_of_true_and_false(lengths, size):
    rows = []
    for length in lengths:
        n = length.item()
        rows.append([True] * n + [False] * (size - n))
    return torch.tensor(rows, dtype=torch.bool)


def padding_by_numpy(lengths, size):
    lengths = lengths.numpy()
    mask = np.zeros((len(lengths), size), dtype=bool)
    for i in range(len(lengths)):
        mask[i, : lengths[i]] = True
    return torch.from_numpy(mask)


def padding_by_filling_up_rows(lengths, size):
    rows = []
    for i in range(len(lengths)):
        words = torch.ones(int(lengths[i]))
        padding = torch.zeros(size - int(lengths[i]))
        rows.append(torch.cat([words, padding]))
    return torch.stack(rows) == 1.0


# PyTorch's own
OWN = [
    lambda n, size: torch.nn.utils.rnn.pad_sequence(
        [*(torch.ones(k, dtype=torch.bool) for k in n.tolist()), torch.ones(size) > 0], batch_first=True
    )[:-1],
]
RIGHT = [
    *OWN,
    padding_by_loop,
    lambda lengths, size: torch.arange(size).expand(len(lengths), size) < lengths.unsqueeze(1),
    lambda n, size: torch.stack([torch.arange(size) < k for k in n]),
    lambda n, size: torch.tensor([[s < k for s in range(size)] for k in n.tolist()]),
    lambda n, size: ~(torch.arange(size)[None] >= n[:, None]),
    # As beginners write them
    padding_in_a_zero_buffer,
    padding_by_lists_of_true_and_false,
    padding_by_numpy,
    padding_by_filling_up_rows,
    # In odd styles
    lambda n, size: torch.from_numpy(np.arange(size)[None] < n.numpy()[:, None]),
    lambda n, size: torch.ones(len(n), size).cumsum(1) <= n[:, None],
    lambda n, size: torch.ones(size, size + 1).triu(1).bool()[:, n].T,
    lambda lengths, size, *, device=None: torch.arange(size, device=device).lt(lengths.view(-1, 1)),
    lambda n, size: torch.stack([F.pad(torch.ones(int(k)), (0, size - int(k))) for k in n]) > 0.5,
]
