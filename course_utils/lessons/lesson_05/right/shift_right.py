"""Right answers to 05.shift_right in other styles than the solution's: roll, pad, loops, lists, numpy."""

import numpy as np
import torch
import torch.nn.functional as F


def rolled_and_overwritten(target, bos):
    inputs = target.roll(1, dims=1)
    inputs[:, 0] = bos
    return inputs


def into_a_new_tensor(target, bos):
    inputs = torch.zeros_like(target)
    inputs[:, 0] = bos
    inputs[:, 1:] = target[:, :-1]
    return inputs


def by_lists(target, bos):
    rows = []
    for row in target.tolist():
        rows.append([bos] + row[:-1])
    return torch.tensor(rows, dtype=target.dtype)


def by_loops(target, bos):
    inputs = torch.empty(target.shape, dtype=target.dtype)
    for b in range(target.shape[0]):
        for t in range(target.shape[1]):
            if t == 0:
                inputs[b, t] = bos
            else:
                inputs[b, t] = target[b, t - 1]
    return inputs


def by_numpy(target, bos):
    return torch.from_numpy(np.insert(target.numpy(), 0, bos, axis=1)[:, :-1].copy())


def by_places(target, bos):
    places = torch.arange(target.shape[1]) - 1
    return torch.where(places < 0, torch.tensor(bos, dtype=target.dtype), target[:, places.clamp(min=0)])


# PyTorch's own
OWN = [
    lambda target, bos: F.pad(target, (1, -1), value=bos),
    rolled_and_overwritten,
]
RIGHT = [
    *OWN,
    into_a_new_tensor,
    by_lists,
    by_numpy,
    by_places,
    lambda target, bos: F.pad(target, (1, 0), value=bos)[:, :-1],
    lambda target, bos: torch.hstack([target.new_full((len(target), 1), bos), target])[:, : target.shape[1]],
    # As beginners write them
    by_loops,
]
