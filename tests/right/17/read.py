"""Right answers to 17.read in other styles than the solution's: einsum, products of matrices, loops."""

import torch


def by_einsum(memory, weights):
    return torch.einsum("bn,bnw->bw", weights, memory)


def by_bmm(memory, weights):
    return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


def by_a_matrix_product(memory, weights):
    return (memory.mT @ weights[:, :, None])[..., 0]


def by_tensordot(memory, weights):
    return torch.stack([torch.tensordot(w, m, dims=1) for w, m in zip(weights, memory, strict=True)])


def as_a_sum_of_places(memory, weights):
    return sum(weights[:, n, None] * memory[:, n] for n in range(memory.shape[1]))


def in_place_on_a_copy(memory, weights):
    weighed = memory.clone()
    weighed *= weights[..., None]
    return weighed.sum(-2)


def number_by_number(memory, weights):
    B, N, W = memory.shape
    result = torch.zeros(B, W, dtype=memory.dtype)
    for b in range(B):
        for n in range(N):
            result[b] += weights[b, n] * memory[b, n]
    return result


# PyTorch's own
OWN = [
    by_bmm,
    by_einsum,
]
RIGHT = [
    *OWN,
    by_a_matrix_product,
    by_tensordot,
    as_a_sum_of_places,
    in_place_on_a_copy,
    # As beginners write them
    number_by_number,
]
WORKED = [(([[[1, 2], [3, 0], [5, 4]]], [[0.5, 0.25, 0.25]]), "2.5 2")]
