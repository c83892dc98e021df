"""Right answers to 16.memories in other styles than the solution's: one-hot, indices, NaN for nothing, NumPy, loops."""

import numpy as np
import torch
import torch.nn.functional as F


def by_one_hot(weights, mask, support):
    """A place -1 has no row of its own: the places are moved by one, and the first column is dropped."""
    there = F.one_hot(support + 1, weights.shape[2] + 1)[..., 1:].to(weights)  # B S M
    times = torch.einsum("bkm,bsm,b->ks", weights, there, mask.sum(1).to(weights))
    return times / there.sum((0, 2))


def column_by_column(weights, mask, support):
    relative = weights * mask.sum(1)[:, None, None]
    columns = []
    for places in support.unbind(1):
        (rows,) = (places >= 0).nonzero(as_tuple=True)
        columns.append(relative[rows, :, places[rows]].mean(0))
    return torch.stack(columns, 1)


def by_nanmean(weights, mask, support):
    equal = mask.double().mean(1) * mask.shape[1]
    at = torch.take_along_dim(weights, support.clamp(min=0)[:, None], dim=2)
    at = at.masked_fill((support < 0)[:, None], torch.nan)
    return (at * equal.to(weights)[:, None, None]).nanmean(0)


def by_numpy(weights, mask, support):
    w, m, s = (x.detach().numpy() for x in (weights, mask, support))
    rows = np.arange(len(w))[:, None]
    times = w[rows, :, s] * m.sum(1)[:, None, None]  # B S K
    real = (s >= 0)[..., None]
    return torch.from_numpy(((times * real).sum(0) / real.sum(0)).T.astype(w.dtype))


def story_by_story(weights, mask, support):
    B, K, M = weights.shape
    S = support.shape[1]
    sums = torch.zeros(K, S, dtype=weights.dtype)
    counts = [0] * S
    for b in range(B):
        facts = 0
        for m in range(M):
            if mask[b, m]:
                facts += 1
        for s in range(S):
            place = support[b, s].item()
            if place == -1:
                continue
            counts[s] += 1
            for k in range(K):
                sums[k, s] += weights[b, k, place].item() / (1 / facts)
    for s in range(S):
        sums[:, s] /= counts[s]
    return sums


NONE_OF_ITS_OWN = "PyTorch has no measure of where attention looks."
RIGHT = [
    by_one_hot,
    column_by_column,
    by_nanmean,
    by_numpy,
    # As beginners write them
    story_by_story,
]


def inputs(draw):
    """Stories of different lengths; the first rests on as many facts as there are columns."""
    B, K, M = (draw.randint(1, 6) for _ in range(3))
    S = draw.randint(1, min(M, 3))
    mask, support = torch.zeros(B, M, dtype=torch.bool), torch.full((B, S), -1)
    for row in range(B):
        places = draw.sample(range(M), draw.randint(1 if row else S, M))
        mask[row, places] = True
        chosen = places[: draw.randint(1, min(S, len(places))) if row else S]
        support[row, : len(chosen)] = torch.tensor(chosen)
    scores = torch.randn(B, K, M, generator=draw.generator)
    return scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1), mask, support
