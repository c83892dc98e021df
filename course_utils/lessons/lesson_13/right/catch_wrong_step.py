"""Right answers to 13.catch_wrong_step in other styles than the solution's: by hand in NumPy, by torch.optim, one question after another."""

import numpy as np
import torch


def by_numpy(train):
    """The gradient written out, in float64."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=(4, 3)).astype(np.float32)
    batches = []
    for rows in (6, 3, 5, 4):
        x, target = rng.normal(size=(rows, 4)).astype(np.float32), rng.integers(0, 3, rows)
        mask = rng.random(rows) < 0.6
        mask[0], mask[-1] = False, True
        batches.append((x, target, mask))
    for rate, clip in ((0.3, 0.2), (0.7, 50.0), (1.0, 0.8)):
        weight, expected = first.astype(float), []
        for x, target, mask in batches:
            p = np.exp(x[mask] @ weight)
            p /= p.sum(1, keepdims=True)
            gradient = x[mask].T @ (p - np.eye(3)[target[mask]]) / mask.sum()
            weight = weight - rate * gradient * min(1, clip / np.linalg.norm(gradient))
            expected.append(weight)
        given = torch.tensor(first)
        try:
            came = train(given, [tuple(map(torch.tensor, batch)) for batch in batches], rate, clip)
            numbers = np.stack([each.detach().numpy() for each in came])
        except Exception:
            return False
        if numbers.shape != (4, 4, 3) or not np.all(np.abs(numbers - np.stack(expected)) < 2e-5):
            return False
        if not np.array_equal(given.numpy(), first):
            return False
    return True


def by_the_optimizer(train):
    torch.manual_seed(1)
    weight = torch.randn(2, 6)
    batches = [
        (torch.randn(n, 2), torch.randint(6, (n,)), torch.tensor([False] * (n - k) + [True] * k))
        for n, k in ((7, 2), (3, 3), (5, 1))
    ]

    def mine(clip):
        parameter = weight.clone().requires_grad_()
        sgd = torch.optim.SGD([parameter], lr=0.4)
        for x, target, mask in batches:
            loss = torch.nn.functional.nll_loss((x @ parameter)[mask].log_softmax(1), target[mask])
            sgd.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameter, clip)
            sgd.step()
            yield parameter.detach().clone()

    try:
        for clip in (0.05, 1e3):
            given = weight.clone()
            for came, expected in zip(train(given, batches, 0.4, clip), mine(clip), strict=True):
                torch.testing.assert_close(came.detach(), expected, atol=1e-5, rtol=1e-5)
            assert torch.equal(given, weight)
    except Exception:
        return False
    return True


def as_beginners_write(train):
    torch.manual_seed(3)
    W = torch.randn(3, 4)
    data = []
    for n in [4, 6, 5]:
        m = torch.ones(n).bool()
        m[1] = False
        if n > 4:
            m[3] = False
        data.append((torch.randn(n, 3), torch.randint(0, 4, (n,)), m))
    for limit in [0.1, 1000]:
        W_copy = W.clone()
        try:
            result = train(W_copy, data, 0.5, limit)
            if len(result) != 3:
                return False
            if not torch.equal(W_copy, W):
                return False
            w = W
            for i in range(3):
                x, y, m = data[i]
                grad = torch.zeros(3, 4)
                for j in range(len(x)):
                    if m[j]:
                        p = torch.softmax(x[j] @ w, 0)
                        p[y[j]] -= 1
                        grad += x[j][:, None] * p[None, :]
                grad = grad / m.sum()
                norm = torch.sqrt((grad**2).sum())
                if norm > limit:
                    grad = grad * limit / norm
                w = w - 0.5 * grad
                if result[i].shape != w.shape:
                    return False
                if not (result[i] - w).abs().max() < 1e-5:
                    return False
        except Exception:
            return False
    return True


# PyTorch's own
OWN = [
    by_the_optimizer,
]
RIGHT = [
    *OWN,
    by_numpy,
    # As beginners write them
    as_beginners_write,
]
