"""Right answers to 17.usage in other styles than the solution's: what stays free, a loop over heads, one place after another."""

import torch


def by_what_stays_free(usage, write, reads, free):
    kept = torch.prod(1 - reads * free.unsqueeze(-1), dim=-2)
    return (1 - (1 - usage) * (1 - write)) * kept


def head_by_head(usage, write, reads, free):
    new = usage + (1 - usage) * write
    for r in range(reads.shape[1]):
        new = new * (1 - free[:, r : r + 1] * reads[:, r])
    return new


def by_einsum(usage, write, reads, free):
    freed = torch.einsum("br,brn->brn", free, reads)
    return torch.lerp(usage, torch.ones_like(usage), write) * (1 - freed).cumprod(1)[:, -1]


def in_place_on_a_copy(usage, write, reads, free):
    new = usage.clone()
    new += write
    new -= usage * write
    for weights, gate in zip(reads.unbind(1), free.unbind(1), strict=True):
        new = new - new * gate[:, None] * weights
    return new


def by_diagonal_matrices(usage, write, reads, free):
    freed = torch.diag_embed(free) @ reads
    return torch.addcmul(usage + write, usage, write, value=-1).mul((1 - freed).prod(1))


def with_transposed_heads(usage, write, reads, free):
    freed = reads.mT * free[:, None, :]  # B N R
    return (usage + write - usage * write) * (1 - freed).prod(dim=2)


def place_by_place(usage, write, reads, free):
    B, R, N = reads.shape
    result = torch.zeros(B, N, dtype=usage.dtype)
    for b in range(B):
        for n in range(N):
            kept = 1.0
            for r in range(R):
                kept = kept * (1 - free[b, r] * reads[b, r, n])
            result[b, n] = (usage[b, n] + write[b, n] - usage[b, n] * write[b, n]) * kept
    return result


# PyTorch's own
OWN = [
    by_what_stays_free,
]
RIGHT = [
    *OWN,
    head_by_head,
    by_einsum,
    in_place_on_a_copy,
    by_diagonal_matrices,
    with_transposed_heads,
    # As beginners write them
    place_by_place,
]
WORKED = [(([[0.5, 1]], [[0.5, 0]], [[[0, 0.5], [0.5, 0.5]]], [[1, 0.5]]), "0.5625 0.375")]
