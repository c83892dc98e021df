"""The promises of an attention function, each a function that tests it and returns a sentence if it is broken, else None.

It has the form of those in `models/variants.py`: attend(query B×H×T×D, key B×H×T×D, value B×H×T×E, mask) → contexts B×H×T×E and
weights B×H×T×T or None. You can add a promise of your own, promise(attend), to the dict of the others.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from course_utils.models.attention import causal_mask

B, H, T, D, E = 3, 2, 7, 4, 5  # of the test inputs; all different, so that mixing up two axes shows
ROOM = 1e-4  # for rounding


def drawn(seed: int = 0, causal: bool = True) -> list[Tensor]:
    """Return a random query, key and value, and a mask B×1×T×T in which the last sequence has two padded steps."""
    draw = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(B, H, T, n, generator=draw) for n in (D, D, E))
    mask = (causal_mask(T) if causal else torch.ones(T, T, dtype=torch.bool)).repeat(B, 1, 1, 1)
    mask[-1, ..., -2:] = False
    return [query, key, value, mask]


def differ(one: Tensor, other: Tensor) -> bool:
    """Whether two results differ by more than rounding; NaN differs from everything."""
    return not torch.allclose(one, other, atol=ROOM, rtol=ROOM)


def shape(attend) -> str | None:
    """The contexts are B×H×T×E, and the weights, if there are any, B×H×T×T."""
    contexts, weights = attend(*drawn())
    if contexts.shape != (B, H, T, E):
        return f"the contexts have the shape {tuple(contexts.shape)} and not {(B, H, T, E)}"
    if weights is not None and weights.shape != (B, H, T, T):
        return f"the weights have the shape {tuple(weights.shape)} and not {(B, H, T, T)}"
    return None


def rows(attend) -> str | None:
    """No weight is negative, each row adds up to 1, and the contexts are the sums of the values with these weights."""
    inputs = drawn()
    contexts, weights = attend(*inputs)
    if weights is None:
        return "it gives no weights"
    if weights.min() < 0:
        return f"there is a negative weight, {weights.min():.2f}"
    total = weights.sum(-1)
    if differ(total, torch.ones_like(total)):
        return f"the weights of a row add up to {total.flatten()[(total - 1).abs().argmax()]:.2f}"
    return "the contexts are not the weighted sums" if differ(contexts, weights @ inputs[2]) else None


def leak(attend) -> str | None:
    """Under a causal mask, later steps have no effect."""
    before = attend(*drawn())[0]
    for step in range(1, T):
        inputs = drawn()
        for changed in inputs[:3]:
            changed[:, :, step:] += 1
        if differ(attend(*inputs)[0][:, :, :step], before[:, :, :step]):
            return f"what comes at step {step} changes a context before it"
    return None


def padding(attend) -> str | None:
    """The contents of padded steps have no effect, and without the padding the result is the same."""
    inputs = drawn(causal=False)
    query, key, value, mask = (one[-1:, ..., :-2, :] for one in inputs)
    with_it, without = attend(*inputs)[0][-1:, :, :-2], attend(query, key, value, mask[..., :-2])[0]
    if differ(with_it, without):
        return "without the padding, the contexts are different"
    for padded in inputs[1:3]:
        padded[-1, :, -2:] = 100.0
    return "what is at padded steps changes a context" if differ(attend(*inputs)[0][-1:, :, :-2], with_it) else None


def apart(attend) -> str | None:
    """Neither sequences of a batch nor heads affect each other."""
    inputs, before = drawn(), attend(*drawn())[0]
    for b in range(B):
        if differ(attend(*(one[b : b + 1] for one in inputs))[0], before[b : b + 1]):
            return "a sequence gives other contexts by itself than in a batch"
    for changed in inputs[:3]:
        changed[:, 0] += 1
    return "a change in one head changes another one" if differ(attend(*inputs)[0][:, 1:], before[:, 1:]) else None


def order(attend) -> str | None:
    """Without a causal mask, the order of keys and values does not change the contexts (invariance)."""
    query, key, value, mask = drawn(causal=False)
    new = torch.tensor([3, 0, 6, 2, 5, 1, 4])
    before = attend(query, key, value, mask)[0]
    after = attend(query, key[:, :, new], value[:, :, new], mask[..., new])[0]
    return "in another order, the same keys and values give different contexts" if differ(before, after) else None


def large(attend) -> str | None:
    """Large queries and keys give finite contexts and gradients."""
    query, key, value, mask = drawn()
    query, key = (1000 * query).requires_grad_(), (1000 * key).requires_grad_()
    contexts = attend(query, key, value, mask)[0]
    if contexts.requires_grad:
        contexts.sum().backward()
    seen = (one for one in (contexts, query.grad, key.grad) if one is not None)
    return None if all(one.isfinite().all() for one in seen) else "large numbers give NaN or infinity"


def gradient(attend) -> str | None:
    """Queries, keys and values get the gradient that small changes show."""
    inputs = [one.double() for one in drawn()[:3]]
    mask, draw = drawn()[3], torch.Generator().manual_seed(1)
    for n, name in enumerate(("query", "key", "value")):
        step = torch.randn(inputs[n].shape, generator=draw, dtype=torch.float64)

        def moved(by, n=n, step=step):
            return attend(*inputs[:n], inputs[n] + by * step, *inputs[n + 1 :], mask)[0].square().sum()

        by = torch.zeros((), dtype=torch.float64, requires_grad=True)
        result = moved(by)
        found = torch.autograd.grad(result, by)[0] if result.requires_grad else by * torch.nan
        shown = (moved(1e-6) - moved(-1e-6)) / 2e-6
        if not torch.isclose(found, shown, rtol=1e-3, atol=1e-4):
            return f"the gradient of the {name} is not the one that small changes show"
    return None


# The last two are optional: an attention function may return no weights, or depend on the order.
PROMISES: dict[str, Callable] = {f.__name__: f for f in (shape, leak, padding, apart, large, gradient, rows, order)}


def broken(attend, promises: dict[str, Callable] | None = None) -> dict[str, str]:
    """Test each promise; return the broken ones, each with its sentence. An error in `attend` breaks a promise, too."""
    found = {}
    for name, promise in (promises or PROMISES).items():
        try:
            sentence = promise(attend)
        except Exception as error:  # whatever a learner's function raises
            sentence = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
        if sentence:
            found[name] = sentence
    return found
