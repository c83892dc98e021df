"""Right answers to 17.follow_link in other styles than the solution's: products, sums, bmm, loops."""

import torch


def by_products(link, weights):
    w = weights.unsqueeze(-1)
    return (link @ w).squeeze(-1), (link.transpose(1, 2) @ w).squeeze(-1)


def by_rows(link, weights):
    w = weights[:, None]  # B 1 N
    return torch.matmul(w, link.mT)[:, 0], torch.matmul(w, link)[:, 0]


def by_sums(link, weights):
    return (link * weights[:, None, :]).sum(2), (link * weights[:, :, None]).sum(1)


def by_bmm(link, weights):
    both = torch.cat([link, link.permute(0, 2, 1)], dim=1)  # B 2N N
    return tuple(torch.bmm(both, weights[..., None])[..., 0].chunk(2, dim=1))


def row_by_row_of_the_batch(link, weights):
    pairs = [(L.mv(w), L.T.mv(w)) for L, w in zip(link, weights, strict=True)]
    return tuple(map(torch.stack, zip(*pairs, strict=True)))


def place_by_place(link, weights):
    forward = torch.zeros_like(weights)
    backward = torch.zeros_like(weights)
    for j in range(weights.shape[1]):
        forward += link[:, :, j] * weights[:, j : j + 1]
        backward += link[:, j, :] * weights[:, j : j + 1]
    return forward, backward


def number_by_number(link, weights):
    B, N = weights.shape
    forward = torch.zeros(B, N, dtype=link.dtype)
    backward = torch.zeros(B, N, dtype=link.dtype)
    for b in range(B):
        for i in range(N):
            for j in range(N):
                forward[b, i] += link[b, i, j] * weights[b, j]
                backward[b, j] += link[b, i, j] * weights[b, i]
    return forward, backward


# PyTorch's own
OWN = [
    by_bmm,
]
RIGHT = [
    *OWN,
    by_products,
    by_rows,
    by_sums,
    row_by_row_of_the_batch,
    # As beginners write them
    place_by_place,
    number_by_number,
]
WORKED = [(([[[0, 0, 0], [0, 0, 0.5], [1, 0, 0]]], [[0.25, 0, 0.75]]), "0 0.375 0.25 0.75 0 0")]
