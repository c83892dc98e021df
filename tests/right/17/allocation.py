"""Right answers to 17.allocation in other styles than the solution's: the order undone, all pairs, indices, loops."""

import torch
import torch.nn.functional as F


def by_undoing_the_order(usage):
    order = torch.argsort(usage, dim=-1, stable=True)
    ordered = torch.gather(usage, -1, order)
    before = F.pad(ordered[:, :-1], (1, 0), value=1.0).cumprod(-1)
    return ((1 - ordered) * before).gather(-1, order.argsort(-1))


def by_differences(usage):
    """What a place takes is what is left over before it, less what is left over after it."""
    ordered, order = torch.sort(usage, stable=True)
    left = torch.cumprod(F.pad(ordered, (1, 0), value=1.0), 1)
    return torch.zeros_like(usage).scatter(1, order, -left.diff(dim=1))


def by_all_pairs(usage):
    """Each place looks which others come before it."""
    places = torch.arange(usage.shape[1])
    other, own = usage[:, None, :], usage[:, :, None]
    before = (other < own) | ((other == own) & (places < places[:, None]))
    return (1 - usage) * torch.where(before, other, torch.ones_like(other)).prod(2)


def by_a_permutation_matrix(usage):
    order = usage.detach().sort(dim=1, stable=True).indices
    permutation = F.one_hot(order, usage.shape[1]).to(usage.dtype)  # B, sorted N, N
    ordered = torch.einsum("bsn,bn->bs", permutation, usage)
    before = torch.cat([ordered.new_ones(len(ordered), 1), ordered.cumprod(1)[:, :-1]], 1)
    return torch.einsum("bsn,bs->bn", permutation, (1 - ordered) * before)


def by_indices(usage):
    order = usage.argsort(stable=True)
    rows = torch.arange(len(usage))[:, None]
    ordered = usage[rows, order]
    before = torch.ones_like(ordered).index_copy(1, torch.arange(1, usage.shape[1]), ordered.cumprod(1)[:, :-1])
    weights = torch.empty_like(usage)
    weights[rows, order] = (1 - ordered) * before
    return weights


def place_by_place(usage):
    result = torch.zeros(usage.shape, dtype=usage.dtype)
    for b in range(usage.shape[0]):
        order = sorted(range(usage.shape[1]), key=lambda n: usage[b, n].item())
        left = 1.0
        for n in order:
            result[b, n] = (1 - usage[b, n]) * left
            left = left * usage[b, n]
    return result


def always_the_freest_next(usage):
    rows = []
    for row in usage:
        taken, left, weights = set(), torch.tensor(1.0, dtype=row.dtype), {}
        while len(taken) < len(row):
            best = None
            for n in range(len(row)):
                if n not in taken and (best is None or row[n] < row[best]):
                    best = n
            weights[best] = left * (1 - row[best])
            left = left * row[best]
            taken.add(best)
        rows.append(torch.stack([weights[n] for n in range(len(row))]))
    return torch.stack(rows)


# PyTorch's own
OWN = [
    by_differences,
]
RIGHT = [
    *OWN,
    by_undoing_the_order,
    by_all_pairs,
    by_a_permutation_matrix,
    by_indices,
    # As beginners write them
    place_by_place,
    always_the_freest_next,
]
WORKED = [(([[0.5, 0.8, 0.25]],), "0.125 0.025 0.75")]
