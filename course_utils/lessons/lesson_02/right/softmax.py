"""Right answers to 02.softmax in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F
from torch import nn


class Softmax(nn.Module):
    def forward(self, x, t=1.0):
        return F.softmax(x / t, dim=-1)


def softmax_by_loops(scores, temperature=1.0):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        row = row / temperature
        e = [torch.exp(s - row.max()) for s in row]
        rows.append(torch.stack([x / sum(e) for x in e]))
    return torch.stack(rows).reshape(scores.shape)


def softmax_by_recursion(scores, temperature=1.0):
    if scores.dim() > 1:
        return torch.stack([softmax_by_recursion(part, temperature) for part in scores])
    z = scores / temperature
    highest = z.max()
    weights = torch.zeros(len(z))
    for s in range(len(z)):
        weights[s] = torch.exp(z[s] - highest)
    return weights / weights.sum()


def softmax_in_a_flat_zero_buffer(scores, temperature=1.0):
    S = scores.shape[-1]
    rows = scores.reshape(-1, S) / temperature
    result = torch.zeros(rows.shape)
    for i in range(len(rows)):
        highest = torch.max(rows[i])
        exponentials = torch.exp(rows[i] - highest)
        total = torch.tensor(0.0)
        for e in exponentials:
            total += e
        result[i] = exponentials / total
    return result.reshape(scores.shape)


def softmax_in_named_steps(scores, temperature=1.0):
    divided = scores / temperature
    highest, _ = torch.max(divided, dim=-1)
    shifted = divided - highest.unsqueeze(-1)
    exponentials = torch.exp(shifted)
    totals = exponentials.sum(dim=-1).unsqueeze(-1)
    return exponentials / totals


def softmax(s, t=1.0):
    return (s / t).softmax(-1)


def softmax_recursive(scores, temperature=1.0):
    if scores.dim() > 1:
        return torch.stack([softmax_recursive(row, temperature) for row in scores])
    shifted = (scores - scores.max()) / temperature
    return shifted.exp().div(shifted.exp().sum())


def softmax_in_own_copy(scores, temperature=1.0):
    z = scores / temperature
    z = z - z.detach().amax(-1, keepdim=True)
    e = z.exp_()
    return e / e.sum(-1, keepdim=True)


# PyTorch's own
OWN = [
    Softmax(),
    lambda s, t=1: nn.Softmax(dim=-1)(s / t),
]
RIGHT = [
    *OWN,
    softmax_by_loops,
    lambda s, t=1.0: torch.exp(F.log_softmax(s / t, -1)),
    lambda s, t=1.0: (s / t - torch.logsumexp(s / t, -1, keepdim=True)).exp(),
    lambda s, t=1.0: torch.softmax(s.double() / t, -1).to(s.dtype),
    lambda s, t=1.0: torch.softmax(s.double() / t, -1),
    # As beginners write them
    softmax_by_recursion,
    softmax_in_a_flat_zero_buffer,
    softmax_in_named_steps,
    # In odd styles
    softmax_recursive,
    softmax_in_own_copy,
    lambda s, temperature=1.0: torch.sigmoid(0 * s) * 2 * (s / temperature).softmax(s.dim() - 1),
    lambda *a: torch.softmax(a[0] / (a[1] if len(a) > 1 else 1), -1, dtype=a[0].dtype),
    lambda s, t=None: F.softmax(s / (t or 1.0), dim=-1),
    lambda s, t=1.0: (s.movedim(-1, 0) / t).softmax(0).movedim(0, -1),
    lambda s, t=1.0: (
        1 / (s[..., None, :] / t - s[..., :, None] / t).exp().sum(-1) if s.abs().max() < 50 else softmax(s, t)
    ),
]
WORKED = [(([1, 2, 4],), "0.0420 0.1142 0.8438")]
