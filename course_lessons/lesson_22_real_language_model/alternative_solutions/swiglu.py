"""Correct answers to 22.swiglu in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_functions(x, weight_gate, weight_up, weight_down):
    return F.linear(F.silu(F.linear(x, weight_gate)) * F.linear(x, weight_up), weight_down)


def gate_by_gate(x, weight_gate, weight_up, weight_down):
    result = torch.zeros_like(x)
    for f in range(weight_gate.shape[0]):
        z, u = (x * weight_gate[f]).sum(-1, keepdim=True), (x * weight_up[f]).sum(-1, keepdim=True)
        result = result + z * torch.sigmoid(z) * u * weight_down[:, f]
    return result


OWN = [by_functions]
CORRECT = [*OWN, gate_by_gate]
WORKED = [(([[1, 2]], [[1, 0], [0, -1]], [[1, 1], [2, 0]], [[1, 0], [0, 10]]), "2.1932 -4.7681")]
