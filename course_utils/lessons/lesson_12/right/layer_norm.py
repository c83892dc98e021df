"""Right answers to 12.layer_norm in other styles than the solution's: PyTorch's, var, rsqrt, standard deviations, vector by vector."""

import torch
import torch.nn.functional as F


def by_the_function(x, gain, bias, eps):
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps)


def by_the_layer(x, gain, bias, eps):
    layer = torch.nn.LayerNorm(len(gain), eps=eps, dtype=x.dtype)
    return torch.func.functional_call(layer, {"weight": gain, "bias": bias}, x)


def by_var(x, gain, bias, eps):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(var + eps), gain)


def by_the_length(x, gain, bias, eps):
    """The variance from the length of the centred vector."""
    D = x.shape[-1]
    centred = x - x.sum(-1).unsqueeze(-1) / D
    return gain * centred * ((centred * centred).sum(-1, keepdim=True) / D + eps) ** -0.5 + bias


def by_the_other_variance(x, gain, bias, eps):
    D = x.shape[-1]
    variance = torch.var(x, -1, keepdim=True) * (D - 1) / D
    return gain * ((x - torch.mean(x, -1, keepdim=True)) / torch.sqrt(variance + eps)) + bias


def vector_by_vector(x, gain, bias, eps):
    rows = []
    for vector in x.reshape(-1, x.shape[-1]):
        mean = sum(vector) / len(vector)
        variance = 0
        for number in vector:
            variance = variance + (number - mean) ** 2
        variance = variance / len(vector)
        rows.append((vector - mean) / (variance + eps) ** 0.5 * gain + bias)
    return torch.stack(rows).reshape(x.shape)


# PyTorch's own
OWN = [
    by_the_function,
    by_the_layer,
]
RIGHT = [
    *OWN,
    by_var,
    by_the_length,
    by_the_other_variance,
    # As beginners write them
    vector_by_vector,
]
WORKED = [(([1, 2, 6], [1, 2, 1], [0, 0, 5], 0.333333), "-0.8944 -0.8944 6.3416")]
