"""Correct answers to 06.alignment_error_rate in other styles than the solution's."""

import numpy as np
import torch


def by_matrices(weights, sure, possible):
    linked, is_sure = torch.zeros(weights.shape).bool(), torch.zeros(weights.shape).bool()
    linked[torch.arange(len(weights)), weights.argmax(1)] = True
    for s, t in sure:
        is_sure[t, s] = True
    is_possible = is_sure.clone()
    for s, t in possible:
        is_possible[t, s] = True
    agreeing = (linked & is_sure).sum() + (linked & is_possible).sum()
    return 1 - agreeing / (linked.sum() + is_sure.sum())


def by_numpy(weights, sure, possible):
    links = set(zip(np.argmax(weights.detach().numpy(), axis=1).tolist(), range(len(weights)), strict=True))
    sure = frozenset(sure)
    possible = sure.union(possible)
    return np.float64(1.0) - (len(links & sure) + len(links & possible)) / (len(links) + len(sure))


NONE_OF_ITS_OWN = "It counts what sets of pairs have in common, which the sets of Python do."
CORRECT = [by_matrices, by_numpy]


def links(draw):
    return [(draw.randrange(draw.size("S")), draw.randrange(draw.size("T"))) for _ in range(draw.randint(0, 9))]


INPUTS = {"sure": links, "possible": links}
