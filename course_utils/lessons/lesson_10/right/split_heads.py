"""Right answers to 10.split_heads in other styles than the solution's: chunk, slices, permute, einsum with places, loops."""

import torch


def by_chunk(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


def by_split(x, heads):
    return torch.stack(torch.split(x, x.shape[-1] // heads, -1), 1)


def by_permute(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).permute(0, 2, 1, 3).contiguous()


def through_the_transposed(x, heads):
    """Cut along the axis of features where it stands second."""
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, heads, D // heads, T).transpose(2, 3)


def by_places(x, heads):
    places = torch.arange(x.shape[2]).reshape(heads, 1, -1)  # H 1 d
    return x[:, torch.arange(x.shape[1])[None, :, None], places]


def word_by_word(x, heads):
    B, T, D = x.shape
    d = D // heads
    result = torch.zeros(B, heads, T, d, dtype=x.dtype)
    for b in range(B):
        for h in range(heads):
            for t in range(T):
                result[b, h, t] = x[b, t, h * d : h * d + d]
    return result


def by_unfold(x, heads):
    d = x.shape[2] // heads
    return x.unfold(2, d, d).movedim(2, 1)


# PyTorch's own
OWN = [
    by_chunk,
    by_unfold,
]
RIGHT = [
    *OWN,
    by_split,
    by_permute,
    through_the_transposed,
    by_places,
    # As beginners write them
    word_by_word,
]
