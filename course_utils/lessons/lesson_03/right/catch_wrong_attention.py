"""Right answers to 03.catch_wrong_attention in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

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


def catch_by_many_small_cases(candidate):
    torch.manual_seed(0)
    sizes = [(2, 3, 5, 7, 4), (3, 4, 4, 2, 2), (1, 1, 1, 1, 1), (2, 1, 6, 3, 5)]
    for B, T, S, D, E in sizes:
        query, key, value = torch.randn(B, T, D), torch.randn(B, S, D), torch.randn(B, S, E)
        half = torch.rand(B, T, S) > 0.5
        nothing_once = half.clone()
        nothing_once[0, 0] = False
        everything = torch.ones(B, T, S).bool()
        nothing = torch.zeros(B, T, S).bool()
        for mask in [None, half, nothing_once, everything, nothing]:
            right_context, right_weights = reference.attention(query, key, value, mask)
            try:
                context, weights = candidate(query, key, value, mask)
                if context.shape != right_context.shape:
                    return False
                if weights.shape != right_weights.shape:
                    return False
                if not torch.allclose(context, right_context, atol=1e-5):
                    return False
                if not torch.allclose(weights, right_weights, atol=1e-5):
                    return False
            except Exception:
                return False
    return True


def catch_by_own_loops_number_by_number(candidate):
    B, T, S, D, E = 2, 4, 3, 5, 6
    generator = torch.Generator().manual_seed(1)
    query = torch.randn(B, T, D, generator=generator)
    key = torch.randn(B, S, D, generator=generator)
    value = torch.randn(B, S, E, generator=generator)
    mask = torch.tensor(
        [
            [[True, False, True], [False, True, True], [True, True, True], [False, False, False]],
            [[False, False, True], [True, True, False], [False, False, False], [True, False, True]],
        ]
    )

    def expected(b, t, masked):
        weights = [0.0] * S
        allowed = [s for s in range(S) if not masked or mask[b, t, s]]
        total = 0.0
        for s in allowed:
            total += np.exp(torch.dot(query[b, t], key[b, s]).item())
        for s in allowed:
            weights[s] = np.exp(torch.dot(query[b, t], key[b, s]).item()) / total
        context = [0.0] * E
        for e in range(E):
            for s in range(S):
                context[e] += weights[s] * value[b, s, e].item()
        return context, weights

    def close(a, b):
        return abs(a - b) <= 2e-5

    for masked in [True, False]:
        try:
            context, weights = candidate(query.clone(), key.clone(), value.clone(), mask.clone() if masked else None)
            if tuple(context.shape) != (B, T, E) or tuple(weights.shape) != (B, T, S):
                return False
            for b in range(B):
                for t in range(T):
                    right_context, right_weights = expected(b, t, masked)
                    for e in range(E):
                        if not close(context[b, t, e].item(), right_context[e]):
                            return False
                    for s in range(S):
                        if not close(weights[b, t, s].item(), right_weights[s]):
                            return False
        except Exception:
            return False
    return True


def catch_by_one_question_after_another(candidate):
    def answers_right(query, key, value, mask):
        right = reference.attention(query, key, value, mask)
        try:
            received = candidate(query, key, value, mask)
            if len(received) != 2:
                return False
            for i in range(2):
                if received[i].shape != right[i].shape:
                    return False
                if torch.isnan(received[i]).any():
                    return False
                if (received[i] - right[i]).abs().max() > 1e-5:
                    return False
        except Exception:
            return False
        return True

    torch.manual_seed(3)
    query, key, value = torch.randn(3, 5, 4), torch.randn(3, 6, 4), torch.randn(3, 6, 2)
    mask = torch.rand(3, 5, 6) < 0.6
    if not answers_right(query, key, value, None):
        return False
    if not answers_right(query, key, value, mask):
        return False
    mask[0, 1] = False
    mask[2, 4] = False
    if not answers_right(query, key, value, mask):
        return False
    mask[1] = False
    return answers_right(query, key, value, mask)


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
RIGHT = [
    *OWN,
    catch_by_oracle,
    catch_by_assert_close,
    catch_by_properties,
    # As beginners write them
    catch_by_many_small_cases,
    catch_by_own_loops_number_by_number,
    catch_by_one_question_after_another,
    catch_by_numpy_testing,
    # In odd styles
    catch_by_comparing(),
    catch_by_comparing((3, 4, 4, 5, 5), agree=lambda a, b: (a - b).abs().max() < 1e-3),
    catch_by_comparing(
        (2, 2, 3, 4, 5), agree=lambda a, b: np.allclose(a, b, atol=1e-4), make=lambda s: 2 * torch.randn(s)
    ),
    catch_by_comparing(masks=lambda m: [m, None, ~m, torch.ones_like(m)]),
    lambda candidate: torch.tensor(catch_by_comparing()(candidate)),
    lambda candidate: all(catch_by_comparing((2, 3, 5, d, 6))(candidate) for d in (3, 8)),
]
