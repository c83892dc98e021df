"""Correct answers to 13.cached_step in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_scaled_dot_product_attention(x, keys, values, in_weight, in_bias, out_weight, out_bias):
    B, H, _, d = keys.shape
    q, k, v = (part.view(B, 1, H, d).transpose(1, 2) for part in F.linear(x, in_weight, in_bias).chunk(3, -1))
    keys, values = torch.cat((keys, k), dim=2), torch.cat((values, v), dim=2)
    context = F.scaled_dot_product_attention(q, keys, values)
    return F.linear(context.transpose(1, 2).reshape(B, 1, -1), out_weight, out_bias), keys, values


def by_an_empty_place(x, keys, values, in_weight, in_bias, out_weight, out_bias):
    """Room for one more word first, into which the new key and value are written."""
    B, H, t, d = keys.shape
    D = H * d
    projected = torch.baddbmm(in_bias.expand(B, 1, 3 * D), x, in_weight.T.expand(B, D, 3 * D)).view(B, 3, H, d)
    longer_keys, longer_values = F.pad(keys, (0, 0, 0, 1)), F.pad(values, (0, 0, 0, 1))
    longer_keys[:, :, -1], longer_values[:, :, -1] = projected[:, 1], projected[:, 2]
    scores = (longer_keys * projected[:, 0, :, None]).sum(-1) / d**0.5
    context = (scores.softmax(-1)[..., None] * longer_values).sum(2).reshape(B, 1, D)
    return context @ out_weight.T + out_bias, longer_keys, longer_values


OWN = [by_scaled_dot_product_attention]
CORRECT = [*OWN, by_an_empty_place]
WORKED = [(([[[2]]], [[[[1]]]], [[[[4]]]], [[1], [1], [1]], [0, 0, 0], [[1]], [0]), "2.2384 1 2 4 2")]
SIZES = {"t": lambda draw: draw.randint(0, 5), "D": lambda draw: draw.size("H") * draw.size("d")}
