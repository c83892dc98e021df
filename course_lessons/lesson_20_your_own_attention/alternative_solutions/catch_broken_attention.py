"""Correct answers to 20.catch_broken_attention in other styles than the solution's."""

import functools

import numpy as np
import torch


def all_that_is_hidden_at_once(attend, order_matters):
    """One row after another: everything that it may not see is drawn anew, for all sentences and heads at once; then sentences and heads by themselves."""
    torch.manual_seed(3)
    try:
        for T in (1, 8):
            first = query, key, value = torch.randn(3, 3, 2, T, 4).unbind()
            mask = torch.rand(3, 1, T, T) < 0.5
            mask[2, 0, T // 2], mask[0, 0, 0] = False, True
            given = [x.clone() for x in (*first, mask)]
            contexts, weights = attend(*given)
            if not all(torch.equal(a, b) for a, b in zip(given, (*first, mask), strict=True)):
                return False
            if (contexts.shape, weights.shape) != ((3, 2, T, 4), (3, 2, T, T)):
                return False
            off = [weights.clamp(max=0), weights * ~mask]
            off += [weights.sum(-1) - mask.any(-1).float(), weights @ value - contexts]
            for t in range(T):
                seen, own = mask[:, :, t, :, None], (torch.arange(T) == t)[:, None]  # B 1 T 1
                other = [
                    torch.where(kept, x, torch.randn_like(x)) for kept, x in zip((own, seen, seen), first, strict=True)
                ]
                now = attend(*other, mask)
                off += [now[0][:, :, t] - contexts[:, :, t], now[1][:, :, t] - weights[:, :, t]]
            for b in range(3):
                alone = attend(*(x[[b]] for x in first), mask[[b]])
                off += [alone[0][0] - contexts[b], alone[1][0] - weights[b]]
            for head in range(2):
                other = [torch.where(torch.arange(2)[:, None, None] == head, x, torch.randn_like(x)) for x in first]
                off.append(attend(*other, mask)[0][:, head] - contexts[:, head])
            if not order_matters:
                order = torch.randperm(T)
                now = attend(query, key[:, :, order], value[:, :, order], mask[..., order])
                off += [now[0] - contexts, now[1] - weights[..., order]]
            if not all((part.abs() < 1e-5).all() for part in off):
                return False
    except Exception:
        return False
    return True


def by_numpy(attend, order_matters):
    rng = np.random.default_rng(4)

    def run(query, key, value, mask):
        tensors = [*(torch.tensor(x, dtype=torch.float32) for x in (query, key, value)), torch.tensor(mask)]
        before = [tensor.numpy().copy() for tensor in tensors]
        contexts, weights = (result.numpy() for result in attend(*tensors))
        assert all((tensor.numpy() == old).all() for tensor, old in zip(tensors, before, strict=True))
        assert contexts.shape == value.shape and weights.shape == (*value.shape[:3], value.shape[2])
        return contexts, weights

    alike = functools.partial(np.testing.assert_allclose, rtol=0, atol=1e-5, equal_nan=False)
    try:
        for T in (1, 8):
            query, key, value = rng.normal(size=(3, 3, 2, T, 4))
            mask = rng.random((3, 1, T, T)) < 0.5
            mask[0, 0, -1], mask[1, 0, -1] = False, True
            contexts, weights = run(query, key, value, mask)
            assert (weights > -1e-6).all()
            alike(weights, weights * mask)
            alike(weights.sum(3), np.broadcast_to(mask.any(3), (3, 2, T)))
            alike(weights @ value, contexts)
            for b, h, t in np.ndindex(3, 2, T):
                new, seen = rng.normal(size=(3, 3, 2, T, 4)), mask[b, 0, t]
                new[0, b, h, t], new[1, b, h, seen], new[2, b, h, seen] = (
                    query[b, h, t],
                    key[b, h, seen],
                    value[b, h, seen],
                )
                again = run(*new, mask)
                alike(again[0][b, h, t], contexts[b, h, t])
                alike(again[1][b, h, t], weights[b, h, t])
            if not order_matters:
                order = rng.permutation(T)
                again = run(query, key[:, :, order], value[:, :, order], mask[..., order])
                alike(again[0], contexts)
                alike(again[1], weights[..., order])
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "An attention is tested by what moves when its inputs change."
CORRECT = [all_that_is_hidden_at_once, by_numpy]
