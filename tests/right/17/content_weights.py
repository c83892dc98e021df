"""Right answers to 17.content_weights in other styles than the solution's: unit vectors, einsum, guarded divisions, loops."""

import torch
import torch.nn.functional as F
from torch import nn


def unit_vectors(memory, key, strength):
    cosine = F.normalize(memory, dim=-1) @ F.normalize(key, dim=-1)[:, :, None]
    return (strength[:, None] * cosine.squeeze(-1)).softmax(1)


def guarded_lengths(memory, key, strength):
    product = torch.einsum("bnw,bw->bn", memory, key)
    lengths = memory.norm(dim=2) * key.norm(dim=1, keepdim=True)
    return torch.softmax(product / lengths.clamp(min=1e-12) * strength.unsqueeze(1), 1)


def zeros_put_in(memory, key, strength):
    product = (key[:, None] @ memory.mT)[:, 0]
    lengths = torch.linalg.norm(memory, dim=-1) * torch.linalg.norm(key, dim=-1)[:, None]
    cosine = torch.where(lengths > 0, product / torch.where(lengths > 0, lengths, 1.0), 0.0)
    return F.softmax(cosine.mul(strength[:, None]), dim=-1)


def a_small_number_added(memory, key, strength):
    """As much code has it: far smaller than the lengths."""
    product = torch.matmul(memory, key.unsqueeze(-1)).squeeze(-1)
    lengths = memory.norm(p=2, dim=-1) * key.norm(p=2, dim=-1, keepdim=True)
    return F.softmax(strength.view(-1, 1) * product / (lengths + 1e-12), dim=1)


def strength_in_the_key(memory, key, strength):
    """A key as long as the strength."""
    scaled = F.normalize(key, dim=-1) * strength[:, None]
    scores = (F.normalize(memory, dim=-1) * scaled[:, None]).sum(-1)
    powers = (scores - scores.amax(1, keepdim=True)).exp()
    return powers / powers.sum(1, keepdim=True)


def by_logarithms(memory, key, strength):
    scores = strength[:, None] * torch.cosine_similarity(key.unsqueeze(1), memory, dim=2)
    return (scores - scores.logsumexp(dim=1, keepdim=True)).exp()


def row_by_row(memory, key, strength):
    rows = []
    for b in range(len(memory)):
        cosines = []
        for place in memory[b]:
            length = (place**2).sum() ** 0.5 * (key[b] ** 2).sum() ** 0.5
            if length > 0:
                cosines.append((place * key[b]).sum() / length)
            else:
                cosines.append(torch.zeros_like(length))
        rows.append(torch.softmax(strength[b] * torch.stack(cosines), dim=0))
    return torch.stack(rows)


def by_layers(memory, key, strength):
    return nn.Softmax(dim=1)(strength[:, None] * nn.CosineSimilarity(dim=-1)(memory, key[:, None]))


# PyTorch's own
OWN = [
    by_layers,
]
RIGHT = [
    *OWN,
    unit_vectors,
    guarded_lengths,
    zeros_put_in,
    a_small_number_added,
    strength_in_the_key,
    by_logarithms,
    # As beginners write them
    row_by_row,
]
WORKED = [(([[[3, 4], [0, 0]]], [[0, 5]], [1.3733]), "0.75 0.25")]
