"""Correct answers to 18.catch_wrong_routing in other styles than the solution's."""

import torch


def by_bmm(layer):
    torch.manual_seed(2)
    try:
        for B in (60, 4, 1):
            y, gates, outputs = layer(torch.randn(B, 4))
            right = torch.bmm(gates.unsqueeze(1), outputs).squeeze(1)
            if y.size() != right.size() or not torch.isclose(y, right, rtol=1e-5, atol=1e-5).all():
                return False
    except Exception:
        return False
    return True


def as_beginners_write(layer):
    torch.manual_seed(0)
    for B in [1, 10, 50]:
        try:
            y, gates, outputs = layer(torch.randn(B, 4))
            if list(y.shape) != [B, 4]:
                return False
            for b in range(B):
                total = sum(gates[b, i] * outputs[b, i] for i in range(outputs.shape[1]))
                for d in range(4):
                    if abs(float(y[b, d]) - float(total[d])) > 0.00001:
                        return False
        except Exception:
            return False
    return True


OWN = [by_bmm]
CORRECT = [*OWN, as_beginners_write]
