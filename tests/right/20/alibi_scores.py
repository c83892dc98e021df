"""Right answers to 20.alibi_scores in other styles than the solution's: head by head, cdist, einsum, powers of one slope, loops."""

import torch


def head_by_head(scores):
    H, T = scores.shape[1], scores.shape[2]
    places = torch.arange(T, dtype=scores.dtype)
    distance = torch.cdist(places[:, None], places[:, None])
    return torch.stack([scores[:, h] - 2 ** (-8 * (h + 1) / H) * distance for h in range(H)], 1)


def by_einsum(scores):
    slopes = torch.logspace(-8 / scores.shape[1], -8, scores.shape[1], base=2, dtype=scores.dtype)
    places = torch.arange(scores.shape[-1], dtype=scores.dtype)
    return scores - torch.einsum("h,ij->hij", slopes, torch.abs(places[None] - places[:, None]))


def powers_of_the_first_slope(scores):
    H, T = scores.shape[1:3]
    slopes = [(0.5 ** (8 / H)) ** h for h in range(1, H + 1)]
    rows, columns = torch.meshgrid(torch.arange(T), torch.arange(T), indexing="ij")
    bias = -torch.tensor(slopes).reshape(1, H, 1, 1) * (rows - columns).abs()
    return scores + bias


def from_both_triangles(scores):
    """Ones below the diagonal, added up to the left, and the same turned round."""
    H, T = scores.shape[1:3]
    below = torch.ones(T, T).tril(-1)
    distance = below.flip(1).cumsum(1).flip(1) * below.bool()
    distance = distance + distance.T
    return scores - torch.exp2(-8 * torch.arange(1, H + 1) / H).view(H, 1, 1) * distance


def with_loops(scores):
    B, H, T, _ = scores.shape
    biased = torch.zeros_like(scores)
    for h in range(H):
        slope = 2 ** (-8 * (h + 1) / H)
        for i in range(T):
            for j in range(T):
                biased[:, h, i, j] = scores[:, h, i, j] - slope * abs(i - j)
    return biased


# PyTorch's own
OWN = [
    by_einsum,
]
RIGHT = [
    *OWN,
    head_by_head,
    powers_of_the_first_slope,
    from_both_triangles,
    # As beginners write them
    with_loops,
]
