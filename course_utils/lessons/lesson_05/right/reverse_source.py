"""Right answers to 05.reverse_source in other styles than the solution's: loops, lists, flip and roll, sorting, scatter."""

import numpy as np
import torch


def row_by_row(source, mask):
    result = source.clone()
    for b in range(len(source)):
        n = int(mask[b].sum())
        result[b, :n] = source[b, :n].flip(0)
    return result


def by_lists(source, mask):
    rows = []
    for row, words in zip(source.tolist(), mask.tolist(), strict=True):
        n = words.count(True)
        rows.append(list(reversed(row[:n])) + row[n:])
    return torch.tensor(rows)


def number_by_number(source, mask):
    B, S = source.shape
    result = torch.zeros(B, S, dtype=torch.long)
    for b in range(B):
        n = 0
        for s in range(S):
            if mask[b, s]:
                n += 1
        for s in range(S):
            if s < n:
                result[b, s] = source[b, n - 1 - s]
            else:
                result[b, s] = source[b, s]
    return result


def flipped_and_rolled_back(source, mask):
    pads = (~mask).sum(1).tolist()
    back = torch.stack([row.flip(0).roll(-n) for row, n in zip(source, pads, strict=True)])
    return torch.where(mask, back, source)


def sorted_by_where_they_go(source, mask):
    places = torch.arange(source.shape[1]).expand_as(source)
    return source.gather(1, torch.where(mask, -places, places).argsort(1))


def scattered(source, mask):
    places = torch.arange(source.shape[1])
    goes_to = torch.where(mask, mask.sum(1)[:, None] - 1 - places, places)
    return torch.zeros_like(source).scatter(1, goes_to, source)


def words_written_backwards(source, mask):
    result = source.clone()
    result[mask] = torch.cat([row[words].flip(0) for row, words in zip(source, mask, strict=True)])
    return result


def by_numpy(source, mask):
    ids = source.numpy().copy()
    for row, n in zip(ids, mask.numpy().sum(axis=1), strict=True):
        row[:n] = row[:n][::-1].copy()
    return torch.from_numpy(np.ascontiguousarray(ids))


# PyTorch's own
OWN = [
    flipped_and_rolled_back,
]
RIGHT = [
    *OWN,
    by_lists,
    sorted_by_where_they_go,
    scattered,
    words_written_backwards,
    by_numpy,
    # As beginners write them
    row_by_row,
    number_by_number,
]
INPUTS = {"source": lambda draw: draw.whole("B×S", 0, 50), "mask": lambda draw: draw.words_first(0)}
