"""Right answers to 10.catch_wrong_heads in other styles than the solution's: torch's layer as the truth, a loop, assert_close, NumPy."""

import numpy as np
import torch
from torch import nn

from course_utils.models.plain import multi_head_attention as reference


def _drawn(seed, B=2, T=3, S=4, heads=3, d=2):
    g, D = torch.Generator().manual_seed(seed), heads * d
    shapes = ((B, T, D), (B, S, D), (B, S, D), (3 * D, D), (3 * D,), (D, D), (D,))
    tensors = [torch.randn(shape, generator=g) for shape in shapes]
    return tensors, heads, torch.rand(B, T, S, generator=g) < 0.6


def by_assert_close(candidate):
    try:
        for seed in range(4):
            tensors, heads, mask = _drawn(seed, B=2 + seed)
            mask[0, -1] = False
            for kept, times in ((mask, 1.0), (None, 1.0), (mask, 5000.0)):
                tensors[0] = tensors[0] * times
                given = [tensor.clone() for tensor in tensors]
                own = None if kept is None else kept.clone()
                came = candidate(*given, heads, own)
                torch.testing.assert_close(came, reference(*tensors, heads, kept), atol=2e-5, rtol=1e-4)
                torch.testing.assert_close(given, tensors, atol=0, rtol=0)
                assert kept is None or bool((own == kept).all())
    except Exception:
        return False
    return True


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


def by_numpy(candidate):
    rng = np.random.default_rng(2)
    for B, T, S, H, d in ((2, 3, 4, 3, 2), (3, 4, 2, 2, 3)):
        D = H * d
        shapes = ((B, T, D), (B, S, D), (B, S, D), (3 * D, D), (3 * D,), (D, D), (D,))
        for scale in (1, 1e4):
            arrays = [rng.normal(size=shape) for shape in shapes]
            arrays[1] *= scale
            mask = rng.random((B, T, S)) < 0.5
            mask[1, 0] = False
            for kept in (None, mask):
                q, k, v = (
                    (x @ arrays[3][i * D : i * D + D].T + arrays[4][i * D : i * D + D]).reshape(B, -1, H, d)
                    for i, x in enumerate(arrays[:3])
                )
                scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(d)
                if kept is not None:
                    scores = np.where(kept[:, None], scores, -1e30)
                e = np.exp(scores - scores.max(-1, keepdims=True))
                weights = e / e.sum(-1, keepdims=True)
                if kept is not None:
                    weights = weights * kept[:, None]
                right = np.einsum("bhts,bshd->bthd", weights, v).reshape(B, T, D) @ arrays[5].T + arrays[6]
                given = [torch.tensor(a, dtype=torch.float32) for a in arrays]
                own = None if kept is None else torch.tensor(kept)
                try:
                    came = candidate(*given, H, own).numpy()
                    np.testing.assert_allclose(came, right, rtol=1e-4, atol=1e-4)
                    if own is not None:
                        np.testing.assert_array_equal(own.numpy(), kept)
                except Exception:
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


def with_a_mask_and_without(candidate):
    """Numbers of ordinary size, and no look at what was given."""
    tensors, heads, mask = _drawn(5, B=3, T=4, S=5, heads=3, d=4)
    mask[:, 1] = False
    try:
        for kept in (mask, None):
            right, came = reference(*tensors, heads, kept), candidate(*tensors, heads, kept)
            if came.shape != right.shape or not torch.allclose(came, right, rtol=1e-5, atol=1e-4):
                return False
    except Exception:
        return False
    return True


# PyTorch's own
OWN = [
    by_the_layer,
]
RIGHT = [
    *OWN,
    by_assert_close,
    by_numpy,
    # As beginners write them
    one_question_after_another,
    # As the prompt alone suggests
    with_a_mask_and_without,
]
