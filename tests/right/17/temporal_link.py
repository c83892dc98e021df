"""Right answers to 17.temporal_link in other styles than the solution's: einsum, outer products, in place on a copy, loops."""

import torch


def by_einsum(link, precedence, weights):
    N = weights.shape[1]
    ones = torch.ones_like(weights)
    written = torch.einsum("bi,bj->bij", weights, ones) + torch.einsum("bi,bj->bij", ones, weights)
    new = link - written * link + torch.einsum("bi,bj->bij", weights, precedence)
    return new * (1 - torch.eye(N, dtype=link.dtype)), precedence - torch.einsum(
        "bi,bj->bj", weights, precedence
    ) + weights


def by_products(link, precedence, weights):
    row = weights.unsqueeze(2).expand_as(link)
    new = (1 - row - row.mT) * link + weights.unsqueeze(2) @ precedence.unsqueeze(1)
    new = new - torch.diag_embed(new.diagonal(dim1=1, dim2=2))
    return new, torch.addcmul(weights, 1 - weights.sum(-1, keepdim=True), precedence)


def in_place_on_a_copy(link, precedence, weights):
    new = link.clone()
    new = new - weights[:, :, None] * link
    new -= weights[:, None, :] * link
    new += weights[:, :, None] * precedence[:, None, :]
    places = torch.arange(weights.shape[1])
    new[:, places, places] = 0
    latest = precedence.clone()
    latest *= 1 - weights.sum(1)[:, None]
    return new, latest + weights


def by_where(link, precedence, weights):
    N = weights.shape[-1]
    different = ~torch.eye(N, dtype=torch.bool).expand(link.shape)
    new = link * (1 - (weights[..., None] + weights[..., None, :])) + weights[..., None] * precedence[..., None, :]
    latest = torch.lerp(precedence, torch.zeros_like(precedence), weights.sum(-1, keepdim=True)) + weights
    return torch.where(different, new, torch.zeros_like(new)), latest


def row_by_row_of_the_batch(link, precedence, weights):
    links, latest = [], []
    for L, p, w in zip(link, precedence, weights, strict=True):
        new = (1 - w.reshape(-1, 1) - w) * L + torch.outer(w, p)
        links.append(new.tril(-1) + new.triu(1))
        latest.append((1 - w.sum()) * p + w)
    return torch.stack(links), torch.stack(latest)


def number_by_number(link, precedence, weights):
    B, N = weights.shape
    new_link = torch.zeros_like(link)
    new_precedence = torch.zeros_like(precedence)
    for b in range(B):
        total = 0
        for i in range(N):
            total = total + weights[b, i]
            for j in range(N):
                if i != j:
                    kept = (1 - weights[b, i] - weights[b, j]) * link[b, i, j]
                    new_link[b, i, j] = kept + weights[b, i] * precedence[b, j]
        for i in range(N):
            new_precedence[b, i] = (1 - total) * precedence[b, i] + weights[b, i]
    return new_link, new_precedence


def as_a_list(link, precedence, weights):
    (new, latest) = by_where(link, precedence, weights)
    return [new, latest]


def by_baddbmm(link, precedence, weights):
    row, column = weights[:, :, None], weights[:, None]
    new = torch.baddbmm((1 - row - column) * link, row, precedence[:, None])
    new = torch.diagonal_scatter(new, torch.zeros_like(weights), dim1=1, dim2=2)
    return new, torch.addcmul(weights, 1 - weights.sum(1, keepdim=True), precedence)


# PyTorch's own
OWN = [
    by_baddbmm,
]
RIGHT = [
    *OWN,
    by_einsum,
    by_products,
    in_place_on_a_copy,
    by_where,
    row_by_row_of_the_batch,
    as_a_list,
    # As beginners write them
    number_by_number,
]
WORKED = [(([[[0, 0.5], [0, 0]]], [[0.8, 0.2]], [[0, 0.5]]), "0 0.25 0.4 0 0.4 0.6")]
