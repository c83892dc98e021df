"""Correct answers to 10.split_heads in other styles than the solution's."""

import torch


def by_chunk(qkv, heads):
    """One head after the other, each cut into three."""
    parts = [torch.stack(head.chunk(3, dim=-1)) for head in qkv.chunk(heads, dim=-1)]
    return torch.stack(parts, dim=2)


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
CORRECT = [
    *OWN,
    # As beginners write them
    word_by_word,
]
