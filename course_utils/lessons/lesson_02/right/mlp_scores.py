"""Right answers to 02.mlp_scores in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F
from torch import nn


class MLP(nn.Module):
    def forward(self, words, weight, bias, theta):
        return F.linear(torch.sigmoid(F.linear(words, weight, bias)), theta[None])[..., 0]


def mlp_in_a_zero_buffer(words, weight, bias, theta):
    B, S, _ = words.shape
    scores = torch.zeros(B, S)
    for b in range(B):
        for s in range(S):
            hidden = torch.sigmoid(torch.matmul(weight, words[b, s]) + bias)
            scores[b, s] = torch.dot(theta, hidden)
    return scores


def mlp_unit_by_unit(words, weight, bias, theta):
    scores = torch.zeros(words.shape[0], words.shape[1])
    for h in range(len(theta)):
        before = (words * weight[h]).sum(dim=2) + bias[h]
        unit = torch.sigmoid(before)
        scores += theta[h] * unit
    return scores


def mlp_with_helpers(words, weight, bias, theta):
    def layer(x):
        return torch.stack([torch.sigmoid((weight[h] * x).sum() + bias[h]) for h in range(len(bias))])

    def score(x):
        total = torch.tensor(0.0)
        hidden = layer(x)
        for h in range(len(hidden)):
            total = total + theta[h] * hidden[h]
        return total

    return torch.stack([torch.stack([score(x) for x in sentence]) for sentence in words])


def mlp_by_layers(words, weight, bias, theta):
    H, D = weight.shape
    layers = nn.Sequential(nn.Linear(D, H), nn.Sigmoid(), nn.Linear(H, 1, bias=False))
    given = {"0.weight": weight, "0.bias": bias, "2.weight": theta[None]}
    return torch.func.functional_call(layers, given, words).squeeze(-1)


# PyTorch's own
OWN = [
    mlp_by_layers,
]
RIGHT = [
    *OWN,
    MLP(),
    lambda x, W, b, t: torch.einsum("bsh,h->bs", torch.sigmoid(torch.einsum("bsd,hd->bsh", x, W) + b), t),
    lambda x, W, b, t: torch.stack([torch.stack([t @ torch.sigmoid(W @ v + b) for v in s]) for s in x]),
    lambda x, W, b, t: (1 / (1 + torch.exp(-(x @ W.mT + b)))) @ t,
    # As beginners write them
    mlp_in_a_zero_buffer,
    mlp_unit_by_unit,
    mlp_with_helpers,
    # In odd styles
    lambda *a: (
        nn.Sequential(nn.Sigmoid())(torch.addmm(a[2], a[0].flatten(0, 1), a[1].mT)).mv(a[3]).view(a[0].shape[:2])
    ),
    lambda x, W, b, t: torch.sigmoid((x[..., None, :] * W).sum(-1) + b).mul(t).sum(-1),
    lambda x, W, b, t: F.bilinear(x.new_ones(*x.shape[:2], 1), torch.sigmoid(F.linear(x, W, b)), t[None, None])[..., 0],
    lambda x, W, b, t: torch.func.vmap(lambda s: torch.sigmoid(s @ W.T + b) @ t)(x),
]
WORKED = [(([[[1, 2]]], [[1, 0], [1, -1]], [-1, 1], [4, 2]), "3")]
