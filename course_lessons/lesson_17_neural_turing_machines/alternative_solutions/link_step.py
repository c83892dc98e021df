"""Correct answers to 17.link_step in other styles than the solution's."""

import torch


def by_baddbmm(link, precedence, weights, at, content, modes):
    row, column = weights[:, :, None], weights[:, None]
    new = torch.baddbmm((1 - row - column) * link, row, precedence[:, None])
    new = torch.diagonal_scatter(new, torch.zeros_like(weights), dim1=1, dim2=2)
    last = torch.addcmul(weights, 1 - weights.sum(1, keepdim=True), precedence)
    ways = torch.stack([torch.bmm(at[:, None], new)[:, 0], content, torch.bmm(new, at[..., None])[..., 0]], 1)
    return new, last, torch.bmm(modes[:, None], ways)[:, 0]


def by_masks(link, precedence, weights, at, content, modes):
    other = ~torch.eye(link.shape[1], dtype=torch.bool)
    new = torch.einsum("bi,bj->bij", weights, precedence) + link
    new = new - link * (weights[:, :, None] + weights[:, None])
    new = torch.where(other, new, torch.zeros_like(new))
    last = precedence + weights - precedence * weights.sum(1, keepdim=True)
    back, found, forth = modes.T[..., None]
    return [new, last, back * (new * at[..., None]).sum(1) + found * content + forth * (new * at[:, None]).sum(2)]


def number_by_number(link, precedence, weights, at, content, modes):
    B, N = weights.shape
    news, lasts, reads = [], [], []
    for b in range(B):
        w, p, zero = weights[b], precedence[b], torch.zeros((), dtype=link.dtype)
        new = [
            [(1 - w[i] - w[j]) * link[b, i, j] + w[i] * p[j] if i != j else zero for j in range(N)] for i in range(N)
        ]
        read = []
        for i in range(N):
            backward = sum(new[j][i] * at[b, j] for j in range(N))
            forward = sum(new[i][j] * at[b, j] for j in range(N))
            read.append(modes[b, 0] * backward + modes[b, 1] * content[b, i] + modes[b, 2] * forward)
        news.append(torch.stack([torch.stack(row) for row in new]))
        lasts.append(torch.stack([(1 - sum(w)) * p[i] + w[i] for i in range(N)]))
        reads.append(torch.stack(read))
    return torch.stack(news), torch.stack(lasts), torch.stack(reads)


# PyTorch's own
OWN = [
    by_baddbmm,
]
CORRECT = [
    *OWN,
    by_masks,
    # As beginners write them
    number_by_number,
]
WORKED = [
    (
        ([[[0, 0], [0, 0]]], [[1, 0]], [[0, 1]], [[0.75, 0.25]], [[0.5, 0.5]], [[0.2, 0.2, 0.6]]),
        "0 0 1 0 0 1 0.15 0.55",
    )
]
