"""Correct answers to 22.swiglu in other styles than the solution's."""

import torch
import torch.nn.functional as F
from torch import nn


def by_functions(x, weight_gate, weight_up, weight_down):
    return F.linear(F.silu(F.linear(x, weight_gate)) * F.linear(x, weight_up), weight_down)


def by_layers(x, weight_gate, weight_up, weight_down):
    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.w1 = nn.Linear(*weight_gate.T.shape, bias=False)
            self.w3 = nn.Linear(*weight_up.T.shape, bias=False)
            self.w2 = nn.Linear(*weight_down.T.shape, bias=False)

        def forward(self, y):
            return self.w2(F.silu(self.w1(y)) * self.w3(y))

    given = {"w1.weight": weight_gate, "w3.weight": weight_up, "w2.weight": weight_down}
    return torch.func.functional_call(Gated(), given, x)


def gate_by_gate(x, weight_gate, weight_up, weight_down):
    result = torch.zeros_like(x)
    for f in range(weight_gate.shape[0]):
        z = (x * weight_gate[f]).sum(dim=-1, keepdim=True)
        silu = z * torch.sigmoid(z)
        u = (x * weight_up[f]).sum(dim=-1, keepdim=True)
        result = result + silu * u * weight_down[:, f]
    return result


OWN = [
    by_functions,
]
CORRECT = [
    *OWN,
    by_layers,
    # As beginners write them
    gate_by_gate,
]
WORKED = [(([[1, 2]], [[1, 0], [0, -1]], [[1, 1], [2, 0]], [[1, 0], [0, 10]]), "2.1932 -4.7681")]
