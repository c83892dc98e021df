"""Correct answers to 10.catch_wrong_heads in other styles than the solution's."""

import torch
from torch import nn

from course_utils.models.minimal import multi_head_attention as reference


def _drawn(seed, B=2, T=3, S=4, heads=3, d=2):
    g, D = torch.Generator().manual_seed(seed), heads * d
    shapes = ((B, T, D), (B, S, D), (B, S, D), (3 * D, D), (3 * D,), (D, D), (D,))
    tensors = [torch.randn(shape, generator=g) for shape in shapes]
    return tensors, heads, torch.rand(B, T, S, generator=g) < 0.6


def by_the_layer(candidate):
    """nn.MultiheadAttention knows what is right where each word may attend to something; by hand elsewhere."""
    (query, key, value, *weights), heads, mask = _drawn(5, 3, 4, 5, 2, 4)
    mask[:, :, 2] = True
    layer = nn.MultiheadAttention(8, heads, batch_first=True)
    names = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    layer.load_state_dict(dict(zip(names, weights, strict=True)))
    for times in (1, 8000):
        for kept in (mask, None):
            for empty in (False, True):
                if empty and kept is None:
                    continue
                hidden = None if kept is None else (~kept).repeat_interleave(heads, 0)
                with torch.no_grad():
                    right, _ = layer(times * query, key, value, attn_mask=hidden)
                own = None if kept is None else kept.clone()
                if empty:
                    own[1, 3] = False
                    right[1, 3] = weights[-1]
                before = None if own is None else own.clone()
                try:
                    came = candidate(times * query, key, value, *weights, heads, own)
                    if came.shape != right.shape or not ((came - right).abs() <= 1e-5 + 1e-5 * right.abs()).all():
                        return False
                except Exception:
                    return False
                if before is not None and not torch.equal(own, before):
                    return False
    return True


def one_question_after_another(candidate):
    torch.manual_seed(0)

    def is_right(query, key, value, w, b, w2, b2, heads, mask):
        expected = reference(query, key, value, w, b, w2, b2, heads, mask)
        saved = mask.clone() if mask is not None else None
        try:
            result = candidate(query, key, value, w, b, w2, b2, heads, mask)
        except Exception:
            return False
        if mask is not None and not torch.equal(mask, saved):
            return False
        if result.shape != expected.shape:
            return False
        return bool(torch.all(torch.abs(result - expected) < 1e-4))

    query, key, value = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    w, b, w2, b2 = torch.randn(24, 8) / 3, torch.randn(24), torch.randn(8, 8) / 3, torch.randn(8)
    mask = torch.rand(2, 3, 5) < 0.5
    mask[:, :, 1] = True
    ok = is_right(query, key, value, w, b, w2, b2, 4, mask)
    ok = ok and is_right(query, key, value, w, b, w2, b2, 4, None)
    ok = ok and is_right(query * 10000, key, value, w, b, w2, b2, 4, None)
    empty = mask.clone()
    empty[1, 2, :] = False
    return ok and is_right(query, key, value, w, b, w2, b2, 4, empty)


# PyTorch's own
OWN = [
    by_the_layer,
]
CORRECT = [
    *OWN,
    # As beginners write them
    one_question_after_another,
]
