"""Correct answers to 03.catch_wrong_attention in other styles than the solution's."""

import numpy as np
import torch
import torch.nn.functional as F

from course_utils.models import attention as reference


def _attention_inputs(seed, masked):
    g = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(s, generator=g) for s in ((3, 4, 6), (3, 5, 6), (3, 5, 2)))
    m = torch.rand(3, 4, 5, generator=g) > 0.4
    m[1, 2] = False
    return q, k, v, m if masked else None


def catch_by_properties(candidate):
    q, k, v, m = _attention_inputs(4, True)
    try:
        c, w = candidate(q, k, v, m)
        free_c, free_w = candidate(q, k, v, None)
        logs = torch.log(w / w.amax(-1, keepdim=True))
        scores = q @ k.mT
        ok = [w.shape == (3, 4, 5), c.shape == (3, 4, 2), torch.allclose(w @ v, c, atol=1e-5), not w[~m].any()]
        ok += [
            torch.allclose(w.sum(-1), m.any(-1).float(), atol=1e-5),
            torch.allclose(free_w, scores.softmax(-1), atol=1e-5),
        ]
        ok += [torch.allclose(free_w @ v, free_c, atol=1e-5)]
        best = scores.masked_fill(~m, -torch.inf).amax(-1, keepdim=True)
        ok += [torch.allclose(logs[m], (scores - best)[m], atol=1e-3)]
    except Exception:
        return False
    return np.bool_(all(ok))


def catch_by_numpy_testing(candidate):
    good = True
    torch.manual_seed(7)
    for size in [1, 2, 5]:
        query, key, value = torch.randn(2, 3, 8), torch.randn(2, size, 8), torch.randn(2, size, 3)
        causal = torch.tril(torch.ones(3, size)).bool().repeat(2, 1, 1)
        mixed = torch.rand(2, 3, size) > 0.5
        mixed[1, 0, :] = False
        for mask in (None, causal, mixed):
            c, w = reference.attention(query, key, value, mask)
            try:
                context, weights = candidate(query, key, value, mask)
                good = good and context.shape == c.shape and weights.shape == w.shape
                np.testing.assert_allclose(context.numpy(), c.numpy(), rtol=1e-4, atol=1e-5)
                np.testing.assert_allclose(weights.numpy(), w.numpy(), rtol=1e-4, atol=1e-5)
            except Exception:
                good = False
    return good


def catch_by_comparing(
    sizes=(2, 3, 5, 7, 11),
    make=torch.randn,
    agree=lambda a, b: a.shape == b.shape and torch.allclose(a, b, atol=1e-5),
    masks=lambda usual: (None, usual),
):
    """A test with other sizes, numbers, masks, or another way to compare."""
    B, T, S, D, E = sizes

    def test(candidate):
        torch.manual_seed(0)
        q, k, v, usual = make((B, T, D)), make((B, S, D)), make((B, S, E)), torch.rand(B, T, S) < 0.5
        usual[-1, -1] = False
        try:
            for mask in masks(usual):
                right, received = reference.attention(q, k, v, mask), candidate(q, k, v, mask)
                if len(received) != 2 or not all(agree(a, b) for a, b in zip(right, received, strict=True)):
                    return False
        except Exception:
            return False
        return True

    return test


def catch_by_scaled_dot_product_attention(candidate):
    query, key, value, mask = _attention_inputs(5, True)
    ones = torch.eye(key.shape[1]).expand(len(key), -1, -1)  # the values that bring out the weights
    nothing = ~mask.any(-1, keepdim=True)
    try:
        for allowed, seen, empty in ((None, None, nothing & False), (mask, mask | nothing, nothing)):
            right = [
                F.scaled_dot_product_attention(query, key, values, seen, scale=1.0).masked_fill(empty, 0.0)
                for values in (value, ones)
            ]
            torch.testing.assert_close(list(candidate(query, key, value, allowed)), right, atol=1e-5, rtol=1e-4)
    except Exception:
        return False
    return True


# PyTorch's own
OWN = [
    catch_by_scaled_dot_product_attention,
]
CORRECT = [
    *OWN,
    catch_by_properties,
    catch_by_numpy_testing,
    lambda candidate: torch.tensor(catch_by_comparing()(candidate)),
]
