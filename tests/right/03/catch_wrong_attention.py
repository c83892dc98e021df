"""Right answers to 03.catch_wrong_attention in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import numpy as np
import torch

from course_utils.models import attention as reference


def _attention_inputs(seed, masked):
    g = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(s, generator=g) for s in ((3, 4, 6), (3, 5, 6), (3, 5, 2)))
    m = torch.rand(3, 4, 5, generator=g) > 0.4
    m[1, 2] = False
    return q, k, v, m if masked else None


def catch_by_oracle(candidate):
    for seed, masked in ((0, True), (1, False)):
        args = _attention_inputs(seed, masked)
        try:
            context, weights = candidate(*args)
        except Exception:
            return False
        right_context, right_weights = reference.attention(*args)
        if context.shape != right_context.shape or weights.shape != right_weights.shape:
            return False
        if (context - right_context).abs().max() > 1e-4 or not torch.allclose(weights, right_weights, atol=1e-4):
            return False
    return True


def catch_by_assert_close(candidate):
    try:
        for seed in range(3):
            for masked in (True, False):
                args = _attention_inputs(seed, masked)
                torch.testing.assert_close(tuple(candidate(*args)), reference.attention(*args), atol=1e-5, rtol=1e-4)
    except Exception:
        return False
    return True


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


RIGHT = [
    catch_by_oracle,
    catch_by_assert_close,
    catch_by_properties,
]
