"""Right answers to 20.catch_broken_attention in other styles than the solution's: promise by promise, halves of a batch, NumPy, loops."""

import numpy as np
import torch


def promise_by_promise(attend, order_matters):
    """Places, sentences and heads are changed one after another."""
    draw = torch.Generator().manual_seed(1)

    def close(one, other):
        return one.shape == other.shape and torch.allclose(one, other, rtol=0, atol=2e-5)

    def changed(given, places):
        new = [tensor.clone() for tensor in given]
        for tensor in new[:3]:
            tensor[places] = torch.randn(tensor[places].shape, generator=draw)
        return attend(*new)

    def holds(T):
        given = [torch.randn(4, 2, T, 4, generator=draw) for _ in range(3)]
        given.append(torch.rand(4, 1, T, T, generator=draw) < 0.6)
        given[3][:2, :, -1] = torch.tensor([False, True])[:, None, None]
        copies = [tensor.clone() for tensor in given]
        contexts, weights = attend(*copies)
        yield all(map(torch.equal, copies, given))
        yield contexts.shape == (4, 2, T, 4) and weights.shape == (4, 2, T, T)
        yield (weights > -1e-6).all()
        mask = given[3].expand_as(weights)
        yield close(weights * ~mask, torch.zeros_like(weights))
        yield close(weights.sum(3), mask.any(3).float())
        yield close(torch.einsum("bhts,bhse->bhte", weights, given[2]), contexts)
        for s in range(T):
            now = changed(given, (slice(None), slice(None), s))
            stay = (~given[3][:, 0, :, s]).index_fill(1, torch.tensor([s]), False)  # B T
            for new, old in zip(now, (contexts, weights), strict=True):
                yield close(new.transpose(1, 2)[stay], old.transpose(1, 2)[stay])
        for b in range(4):
            now = changed(given, b)
            others = [i for i in range(4) if i != b]
            yield all(close(new[others], old[others]) for new, old in zip(now, (contexts, weights), strict=True))
        for h in range(2):
            now = changed(given, (slice(None), h))
            yield all(close(new[:, 1 - h], old[:, 1 - h]) for new, old in zip(now, (contexts, weights), strict=True))
        if not order_matters:
            order = torch.randperm(T, generator=draw)
            query, key, value, mask = given
            now = attend(query, key[:, :, order], value[:, :, order], mask[..., order])
            yield close(now[0], contexts) and close(now[1], weights[..., order])

    try:
        return all(bool(held) for T in (8, 1, 3) for held in holds(T))
    except Exception:
        return False


def all_that_is_hidden_at_once(attend, order_matters):
    """One row after another: everything that it may not see is drawn anew, for all sentences and heads at once; then sentences and heads by themselves."""
    torch.manual_seed(3)
    try:
        for T in (1, 8):
            query, key, value = torch.randn(3, 3, 2, T, 4).unbind()
            mask = torch.rand(3, 1, T, T) < 0.5
            mask[2, 0, T // 2], mask[0, 0, 0] = False, True
            first = (query.clone(), key.clone(), value.clone(), mask.clone())
            contexts, weights = attend(*first)
            if not all(torch.equal(a, b) for a, b in zip(first, (query, key, value, mask), strict=True)):
                return False
            wanted = [(3, 2, T, 4), (3, 2, T, T)]
            if [tuple(contexts.shape), tuple(weights.shape)] != wanted:
                return False
            off = [
                weights.clamp(max=0),
                weights * ~mask,
                weights.sum(-1) - mask.any(-1).float(),
                weights @ value - contexts,
            ]
            for t in range(T):
                seen = mask[:, :, t, :, None]  # B 1 T 1
                own = (torch.arange(T) == t)[:, None]
                now = attend(
                    torch.where(own, query, torch.randn_like(query)),
                    torch.where(seen, key, torch.randn_like(key)),
                    torch.where(seen, value, torch.randn_like(value)),
                    mask,
                )
                off += [now[0][:, :, t] - contexts[:, :, t], now[1][:, :, t] - weights[:, :, t]]
            for b in range(3):
                alone = attend(query[[b]], key[[b]], value[[b]], mask[[b]])
                off += [alone[0][0] - contexts[b], alone[1][0] - weights[b]]
            swapped = [x.clone() for x in (query, key, value)]
            for x in swapped:
                x[:, 1] = torch.randn(3, T, 4)
            off.append(attend(*swapped, mask)[0][:, 0] - contexts[:, 0])
            swapped = [x.clone() for x in (query, key, value)]
            for x in swapped:
                x[:, 0] = torch.randn(3, T, 4)
            off.append(attend(*swapped, mask)[0][:, 1] - contexts[:, 1])
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

    def alike(one, other):
        assert (np.abs(one - other) < 1e-5).all()

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
                new = rng.normal(size=(3, 3, 2, T, 4))
                new[0, b, h, t] = query[b, h, t]
                seen = mask[b, 0, t]
                new[1, b, h, seen], new[2, b, h, seen] = key[b, h, seen], value[b, h, seen]
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


def as_beginners_write(attend, order_matters):
    torch.manual_seed(0)
    for T in [1, 8]:
        query = torch.randn(3, 2, T, 4)
        key = torch.randn(3, 2, T, 4)
        value = torch.randn(3, 2, T, 4)
        mask = torch.rand(3, 1, T, T) < 0.5
        mask[0, 0, 0, :] = False
        mask[1, 0, 0, :] = True
        old = [query.clone(), key.clone(), value.clone(), mask.clone()]
        try:
            contexts, weights = attend(query, key, value, mask)
            if not torch.equal(query, old[0]) or not torch.equal(key, old[1]):
                return False
            if not torch.equal(value, old[2]) or not torch.equal(mask, old[3]):
                return False
            if contexts.shape != (3, 2, T, 4) or weights.shape != (3, 2, T, T):
                return False
            if torch.isnan(contexts).any() or torch.isnan(weights).any():
                return False
            for b in range(3):
                for h in range(2):
                    for t in range(T):
                        row = weights[b, h, t]
                        if (row < 0).any() or (row[~mask[b, 0, t]] != 0).any():
                            return False
                        wanted = 1.0 if mask[b, 0, t].any() else 0.0
                        if abs(row.sum().item() - wanted) > 0.00001:
                            return False
                        if not torch.allclose(row @ value[b, h], contexts[b, h, t], atol=1e-5):
                            return False
            # hidden places
            for s in range(T):
                query2, key2, value2 = query.clone(), key.clone(), value.clone()
                query2[:, :, s] = torch.randn(3, 2, 4)
                key2[:, :, s] = torch.randn(3, 2, 4)
                value2[:, :, s] = torch.randn(3, 2, 4)
                contexts2, weights2 = attend(query2, key2, value2, mask)
                for b in range(3):
                    for t in range(T):
                        if t != s and not mask[b, 0, t, s]:
                            if not torch.allclose(contexts2[b, :, t], contexts[b, :, t], atol=1e-5):
                                return False
                            if not torch.allclose(weights2[b, :, t], weights[b, :, t], atol=1e-5):
                                return False
            # sentences
            for b in range(3):
                alone, _ = attend(query[b : b + 1], key[b : b + 1], value[b : b + 1], mask[b : b + 1])
                if not torch.allclose(alone[0], contexts[b], atol=1e-5):
                    return False
            # heads
            for h in range(2):
                query2, key2, value2 = query.clone(), key.clone(), value.clone()
                query2[:, h] = torch.randn(3, T, 4)
                key2[:, h] = torch.randn(3, T, 4)
                value2[:, h] = torch.randn(3, T, 4)
                contexts2, weights2 = attend(query2, key2, value2, mask)
                if not torch.allclose(contexts2[:, 1 - h], contexts[:, 1 - h], atol=1e-5):
                    return False
            if order_matters == False:  # noqa: E712
                order = list(range(T))[::-1]
                contexts2, weights2 = attend(query, key[:, :, order], value[:, :, order], mask[:, :, :, order])
                if not torch.allclose(contexts2, contexts, atol=1e-5):
                    return False
                if not torch.allclose(weights2, weights[:, :, :, order], atol=1e-5):
                    return False
        except Exception:
            return False
    return True


NONE_OF_ITS_OWN = "An attention is tested by what moves when its inputs change."
RIGHT = [
    promise_by_promise,
    all_that_is_hidden_at_once,
    by_numpy,
    # As beginners write them
    as_beginners_write,
]
