"""Right answers to 01.word_polarity in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def polarity_by_loop(vectors, direction):
    out = []
    for v in vectors:
        n = v.norm() * direction.norm()
        out.append((v @ direction / n).item() if n > 0 else 0.0)
    return torch.tensor(out, dtype=vectors.dtype)


def polarity_in_a_zero_buffer(word_vectors, weight):
    cosines = torch.zeros(len(word_vectors))
    for i in range(len(word_vectors)):
        length = torch.norm(word_vectors[i]) * torch.norm(weight)
        if length > 0:
            cosines[i] = torch.dot(word_vectors[i], weight) / length
    return cosines


def polarity_by_own_cosine(word_vectors, weight):
    def cosine(a, b):
        if (a == 0).all() or (b == 0).all():
            return torch.tensor(0.0)
        return (a * b).sum() / (torch.sqrt((a**2).sum()) * torch.sqrt((b**2).sum()))

    return torch.stack([cosine(vector, weight) for vector in word_vectors])


def polarity_with_zero_lengths_set_to_one(word_vectors, weight):
    products = (word_vectors * weight).sum(dim=1)
    lengths = torch.norm(word_vectors, dim=1) * torch.norm(weight)
    lengths[lengths == 0] = 1.0
    return products / lengths


def polarity_by_numpy(word_vectors, weight):
    x = word_vectors.numpy()
    w = weight.numpy()
    result = np.zeros(len(x))
    for i in range(len(x)):
        length = np.linalg.norm(x[i]) * np.linalg.norm(w)
        if length != 0:
            result[i] = np.dot(x[i], w) / length
    return torch.tensor(result).float()


def polarity(x, w):
    return F.normalize(x, dim=1) @ F.normalize(w, dim=0)


# PyTorch's own
OWN = [
    nn.CosineSimilarity(dim=-1),
    lambda x, w: F.cosine_similarity(x, w[None], dim=-1),
]
RIGHT = [
    *OWN,
    polarity_by_loop,
    lambda x, w: F.normalize(x, dim=1) @ F.normalize(w, dim=0),
    lambda x, w: x @ w / (x.norm(dim=1) * w.norm() + 1e-8),
    lambda x, w: torch.nan_to_num(x @ w / (x.norm(dim=1) * w.norm())),
    # As beginners write them
    polarity_in_a_zero_buffer,
    polarity_by_own_cosine,
    polarity_with_zero_lengths_set_to_one,
    polarity_by_numpy,
    # In odd styles
    lambda x, w: torch.tensor(polarity(x, w).tolist()),
    lambda x, w: torch.as_tensor(
        [0.0 if not (a.any() and w.any()) else float(a @ w / a.norm() / w.norm()) for a in x], dtype=x.dtype
    ),
    lambda x, w: torch.from_numpy(
        np.nan_to_num(
            (x.numpy() @ w.numpy()) / np.maximum(np.linalg.norm(x.numpy(), axis=1) * np.linalg.norm(w.numpy()), 1e-12)
        )
    ),
    lambda x, w: x @ w * torch.rsqrt(x.square().sum(1) * w.square().sum() + 1e-16),
    lambda x, w: torch.div(x @ w, torch.linalg.vector_norm(x, dim=1) * torch.linalg.vector_norm(w)).nan_to_num(0),
    lambda x, w: nn.CosineSimilarity(dim=1)(x, w.expand_as(x)),
]
WORKED = [(([[3, 4], [0, 0]], [2, 0]), "0.6 0")]
