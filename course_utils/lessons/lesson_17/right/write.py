"""Right answers to 17.write in other styles than the solution's: outer products, einsum, in place on a copy, loops."""

import torch


def by_bmm(memory, weights, erase, add):
    column = weights.unsqueeze(-1)
    return memory * (1 - torch.bmm(column, erase.unsqueeze(1))) + torch.bmm(column, add.unsqueeze(1))


def erased_part_subtracted(memory, weights, erase, add):
    outer = torch.einsum("bn,bw->bnw", weights, erase)
    return memory - memory * outer + torch.einsum("bn,bw->bnw", weights, add)


def in_one_sum(memory, weights, erase, add):
    return memory + weights[..., None] * (add[:, None, :] - erase[:, None, :] * memory)


def by_lerp(memory, weights, erase, add):
    """Each number goes the share w·e of the way to 0."""
    share = weights[:, :, None] * erase[:, None]
    return torch.lerp(memory, torch.zeros_like(memory), share) + weights[:, :, None] * add[:, None]


def in_place_on_a_copy(memory, weights, erase, add):
    new = memory.clone()
    new *= 1 - weights[:, :, None] * erase[:, None]
    new += weights[:, :, None] * add[:, None]
    return new


def numbers_first(memory, weights, erase, add):
    """Along B×W×N, and turned back at the end."""
    by_number = memory.mT * (1 - erase[:, :, None] @ weights[:, None]) + add[:, :, None] @ weights[:, None]
    return by_number.mT


def row_by_row(memory, weights, erase, add):
    return torch.stack(
        [
            m * (torch.ones_like(m) - torch.outer(w, e)) + torch.outer(w, a)
            for m, w, e, a in zip(memory, weights, erase, add, strict=True)
        ]
    )


def place_by_place(memory, weights, erase, add):
    B, N, W = memory.shape
    new_memory = torch.zeros(B, N, W, dtype=memory.dtype)
    for b in range(B):
        for n in range(N):
            for i in range(W):
                erased = memory[b, n, i] * (1 - weights[b, n] * erase[b, i])
                new_memory[b, n, i] = erased + weights[b, n] * add[b, i]
    return new_memory


# PyTorch's own
OWN = [
    by_lerp,
    by_bmm,
]
RIGHT = [
    *OWN,
    erased_part_subtracted,
    in_one_sum,
    in_place_on_a_copy,
    numbers_first,
    row_by_row,
    # As beginners write them
    place_by_place,
]
WORKED = [(([[[4, 2], [6, 8]]], [[0.5, 0.25]], [[1, 0]], [[2, -4]]), "3 0 5 7")]
