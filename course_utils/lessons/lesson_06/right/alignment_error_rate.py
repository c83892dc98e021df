"""Right answers to 06.alignment_error_rate in other styles than the solution's: matrices, numpy, a count, loops."""

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


def link_by_link(weights, sure, possible):
    """A sure link has 2 points of 2, a possible one 1; what is lost of all points is the rate."""
    sure = set(sure)
    lost = len(weights) + len(sure)
    for t, s in enumerate(weights.max(dim=1).indices.tolist()):
        lost -= 2 if (s, t) in sure else (s, t) in possible
    return lost / (len(weights) + len(sure))


def by_loops(weights, sure, possible):
    A = []
    for t in range(weights.shape[0]):
        best = 0
        for s in range(weights.shape[1]):
            if weights[t, s] > weights[t, best]:
                best = s
        A.append((best, t))
    S = []
    for pair in sure:
        if pair not in S:
            S.append(pair)
    a_and_s = 0
    a_and_p = 0
    for pair in A:
        if pair in S:
            a_and_s += 1
        if pair in S or pair in possible:
            a_and_p += 1
    return 1.0 - (a_and_s + a_and_p) / (len(A) + len(S))


NONE_OF_ITS_OWN = "It counts what sets of pairs have in common, which the sets of Python do."
RIGHT = [
    by_matrices,
    by_numpy,
    link_by_link,
    # As beginners write them
    by_loops,
]


def links(draw):
    return [(draw.randrange(draw.size("S")), draw.randrange(draw.size("T"))) for _ in range(draw.randint(0, 9))]


INPUTS = {"sure": links, "possible": links}
