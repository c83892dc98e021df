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


RIGHT = [
    softmax_by_loops,
    Softmax(),
    lambda s, t=1.0: torch.exp(F.log_softmax(s / t, -1)),
    lambda s, t=1.0: (s / t - torch.logsumexp(s / t, -1, keepdim=True)).exp(),
    lambda s, t=1.0: torch.softmax(s.double() / t, -1).to(s.dtype),
    lambda s, t=1.0: torch.softmax(s.double() / t, -1),
]
