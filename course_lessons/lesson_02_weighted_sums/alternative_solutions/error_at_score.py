"""Correct answers to 02.error_at_score in other styles than the solution's."""

import torch


def by_jacobian(weights, words, error):
    jacobian = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None]
    return torch.einsum("bsr,brd,bd->bs", jacobian, words, error)


def by_vjp(weights, words, error):
    """NaN for a sentence of padding only."""
    context_of = lambda scores: torch.bmm(scores.softmax(-1)[:, None], words)[:, 0]  # noqa: E731
    return torch.func.vjp(context_of, weights.log())[1](error)[0]


OWN = [by_vjp]
CORRECT = [
    *OWN,
    by_jacobian,
    lambda a, x, e: a * torch.einsum("bsd,bd->bs", x - torch.einsum("bs,bsd->bd", a, x).unsqueeze(1), e),
]
