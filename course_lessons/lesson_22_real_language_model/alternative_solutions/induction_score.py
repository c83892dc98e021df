"""Correct answers to 22.induction_score in other styles than the solution's."""

import torch


def query_by_query(weights, period):
    T, total = weights.shape[-1], 0
    for t in range(period, T):
        total = total + weights[:, t, t - period + 1]
    return total / (T - period)


OWN = [lambda weights, period: torch.diagonal(weights, 1 - period, 1, 2)[:, 1:].mean(-1)]
CORRECT = [*OWN, query_by_query]


def inputs(draw):
    H, T = draw.size("H"), draw.randint(3, 9)
    scores = torch.randn(H, T, T, generator=draw.generator).masked_fill(~torch.ones(T, T).tril().bool(), -torch.inf)
    return scores.softmax(-1), draw.randint(1, T - 1)
