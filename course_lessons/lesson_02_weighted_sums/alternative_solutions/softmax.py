"""Correct answers to 02.softmax in other styles than the solution's."""

import torch
from torch import nn


def softmax_in_own_copy(scores, temperature=1.0):
    z = scores / temperature
    z = z - z.detach().amax(-1, keepdim=True)
    e = z.exp_()
    return e / e.sum(-1, keepdim=True)


OWN = [lambda s, t=1: nn.Softmax(dim=-1)(s / t)]
CORRECT = [*OWN, lambda s, t=1.0: torch.softmax(s.double() / t, -1), softmax_in_own_copy]
WORKED = [(([1, 2, 4],), "0.0420 0.1142 0.8438")]
