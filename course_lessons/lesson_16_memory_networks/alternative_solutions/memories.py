"""Correct answers to 16.memories in other styles than the solution's."""

import numpy as np
import torch


def by_nanmean(weights, mask, support):
    equal = mask.double().mean(1) * mask.shape[1]
    at = torch.take_along_dim(weights, support.clamp(min=0)[:, None], dim=2)
    at = at.masked_fill((support < 0)[:, None], torch.nan)
    return (at * equal.to(weights)[:, None, None]).nanmean(0)


def by_numpy(weights, mask, support):
    w, m, s = (x.numpy() for x in (weights, mask, support))
    rows = np.arange(len(w))[:, None]
    times = w[rows, :, s] * m.sum(1)[:, None, None]  # B S K
    real = (s >= 0)[..., None]
    return torch.from_numpy(((times * real).sum(0) / real.sum(0)).T.astype(w.dtype))


NONE_OF_ITS_OWN = "PyTorch has no measure of where attention looks."
CORRECT = [by_nanmean, by_numpy]


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
