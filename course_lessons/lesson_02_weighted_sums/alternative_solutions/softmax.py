"""Correct answers to 02.softmax in other styles than the solution's."""

import torch
from torch import nn


def softmax_in_own_copy(scores, temperature=1.0):
    z = scores / temperature
    z = z - z.detach().amax(-1, keepdim=True)
    e = z.exp_()
    return e / e.sum(-1, keepdim=True)


# PyTorch's own
OWN = [
    lambda s, t=1: nn.Softmax(dim=-1)(s / t),
]
CORRECT = [
    *OWN,
    lambda s, t=1.0: torch.softmax(s.double() / t, -1),
    softmax_in_own_copy,
    lambda s, temperature=1.0: torch.sigmoid(0 * s) * 2 * (s / temperature).softmax(s.dim() - 1),
    lambda s, t=1.0: (s.movedim(-1, 0) / t).softmax(0).movedim(0, -1),
]
WORKED = [(([1, 2, 4],), "0.0420 0.1142 0.8438")]
