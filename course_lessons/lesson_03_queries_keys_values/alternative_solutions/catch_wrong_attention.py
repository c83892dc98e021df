"""Correct answers to 03.catch_wrong_attention in other styles than the solution's."""

import numpy as np
import torch
import torch.nn.functional as F


def _attention_inputs(seed):
    g = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(s, generator=g) for s in ((3, 4, 6), (3, 5, 6), (3, 5, 2)))
    m = torch.rand(3, 4, 5, generator=g) > 0.4
    m[1, 2] = False
    return q, k, v, m


def catch_by_properties(candidate):
    q, k, v, m = _attention_inputs(4)
    try:
        c, w = candidate(q, k, v, m)
        free_c, free_w = candidate(q, k, v, None)
        scores = q @ k.mT
        best = scores.masked_fill(~m, -torch.inf).amax(-1, keepdim=True)
        pairs = [(w @ v, c), (w.sum(-1), m.any(-1).float()), (free_w, scores.softmax(-1)), (free_w @ v, free_c)]
        pairs.append((torch.log(w / w.amax(-1, keepdim=True))[m], (scores - best)[m]))
        ok = w.shape == (3, 4, 5) and c.shape == (3, 4, 2) and not w[~m].any()
        return np.bool_(ok and all(torch.allclose(one, other, atol=1e-4) for one, other in pairs))
    except Exception:
        return False


def catch_by_scaled_dot_product_attention(candidate):
    query, key, value, mask = _attention_inputs(5)
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


OWN = [catch_by_scaled_dot_product_attention]
CORRECT = [*OWN, catch_by_properties, lambda candidate: torch.tensor(catch_by_scaled_dot_product_attention(candidate))]
