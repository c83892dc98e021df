"""Right answers to 12.feed_forward in other styles than the solution's: F.linear, einsum, where, layers, word by word."""

import torch
import torch.nn.functional as F


def by_linear(x, weight_1, bias_1, weight_2, bias_2):
    return F.linear(F.relu(F.linear(x, weight_1, bias_1)), weight_2, bias_2)


def by_einsum(x, weight_1, bias_1, weight_2, bias_2):
    before = torch.einsum("btd,fd->btf", x, weight_1) + bias_1
    return torch.einsum("btf,df->btd", torch.where(before > 0, before, 0.0), weight_2) + bias_2


def by_layers(x, weight_1, bias_1, weight_2, bias_2):
    (units, width), kind = weight_1.shape, x.dtype
    layers = torch.nn.Sequential(torch.nn.Linear(width, units), torch.nn.ReLU(), torch.nn.Linear(units, width)).to(kind)
    given = {"0.weight": weight_1, "0.bias": bias_1, "2.weight": weight_2, "2.bias": bias_2}
    return torch.func.functional_call(layers, given, x)


def unit_by_unit(x, weight_1, bias_1, weight_2, bias_2):
    """What each unit adds to the result."""
    result = bias_2.expand(x.shape)
    for unit in range(len(bias_1)):
        active = ((x * weight_1[unit]).sum(-1, keepdim=True) + bias_1[unit]).clamp(min=0)
        result = result + active * weight_2[:, unit]
    return result


def word_by_word(x, weight_1, bias_1, weight_2, bias_2):
    B, T, D = x.shape
    rows = []
    for b in range(B):
        for t in range(T):
            h = weight_1 @ x[b, t] + bias_1
            h = h * (h > 0)
            rows.append(weight_2 @ h + bias_2)
    return torch.stack(rows).reshape(B, T, D)


# PyTorch's own
OWN = [
    by_layers,
    by_linear,
]
RIGHT = [
    *OWN,
    by_einsum,
    unit_by_unit,
    # As beginners write them
    word_by_word,
]
WORKED = [(([[[1, 2]]], [[1, 0], [0, 1], [1, -1]], [0, 0.5, 0], [[1, 0, 4], [0, 2, 4]], [1, -1]), "2 4")]
