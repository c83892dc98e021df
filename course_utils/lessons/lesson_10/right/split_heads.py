"""Right answers to 10.split_heads in other styles than the solution's: chunk, slices, unfold, einsum with places, loops."""

import torch


def by_chunk(qkv, heads):
    """One head after the other, each cut into three."""
    parts = [torch.stack(head.chunk(3, dim=-1)) for head in qkv.chunk(heads, dim=-1)]
    return torch.stack(parts, dim=2)


def by_split(qkv, heads):
    B, T, width = qkv.shape
    d = width // heads // 3
    q, k, v = qkv.view(B, T, heads, 3 * d).transpose(1, 2).split(d, -1)
    return torch.stack([q, k, v])


def by_places(qkv, heads):
    places = torch.arange(qkv.shape[2]).reshape(heads, 3, 1, -1).transpose(0, 1)  # 3 H 1 d
    return qkv[:, torch.arange(qkv.shape[1])[:, None], places].transpose(0, 1)


def through_the_transposed(qkv, heads):
    """Cut along the axis of features where it stands second."""
    B, T, width = qkv.shape
    parts = qkv.mT.reshape(B, heads, 3, width // (3 * heads), T)
    return parts.movedim(2, 0).mT


def word_by_word(qkv, heads):
    B, T, width = qkv.shape
    d = width // (3 * heads)
    result = torch.zeros(3, B, heads, T, d, dtype=qkv.dtype)
    for b in range(B):
        for t in range(T):
            for h in range(heads):
                for kind in range(3):
                    start = h * 3 * d + kind * d
                    result[kind, b, h, t] = qkv[b, t, start : start + d]
    return result


def by_unfold(qkv, heads):
    d = qkv.shape[2] // (3 * heads)
    parts = qkv.unfold(2, d, d)  # B T 3H d
    return torch.stack([parts[:, :, kind::3].transpose(1, 2) for kind in range(3)])


# PyTorch's own
OWN = [
    by_chunk,
    by_unfold,
]
RIGHT = [
    *OWN,
    by_split,
    by_places,
    through_the_transposed,
    # As beginners write them
    word_by_word,
]
