"""Right answers to 00.weighted_sum in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch


def by_loop(w, v):
    total = torch.zeros_like(v[0])
    for i in range(len(w)):
        total = total + w[i] * v[i]
    return total


def by_einsum(w, v):
    return torch.einsum("s,sd->d", w, v)


RIGHT = [
    by_loop,
    by_einsum,
    lambda weights, values: (weights[:, None] * values).sum(0),
    lambda a, b: torch.mv(b.T, a),
    lambda weights, values: sum(w * v for w, v in zip(weights, values)),  # noqa: B905
    lambda w, v: torch.from_numpy(w.numpy() @ v.numpy()),
    lambda w, v: (w.double() @ v.double()).to(v.dtype),
]
