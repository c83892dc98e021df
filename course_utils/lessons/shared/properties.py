"""What holds for attention weights, and for what they make of values, whatever the lesson: said of a wrong answer that breaks it. No task is declared here."""

import torch


def rows_sum_to_one(case, value):
    """Return a sentence unless weights sum to 1 along the last axis, or to 0 where nothing may be attended."""
    weights = value[-1] if isinstance(value, tuple) else value
    sums = weights.double().sum(-1).reshape(-1)
    off = (sums - 1).abs().min((sums).abs()) > 1e-4
    return f"Rows should sum to 1; one of yours sums to {sums[off][0]:.4g}." if off.any() else None


def no_weight_is_negative(case, value):
    """Return a sentence if an attention weight is negative."""
    weights = value[-1] if isinstance(value, tuple) else value
    return f"A weight should not be negative; the smallest is {weights.min():.4g}." if (weights < 0).any() else None


def outside_the_values(contexts, values, allowed):
    """Return where contexts B×T×E lie outside what they are weighted means of: those of `values` B×S×E for which `allowed`, which fits B×T×S, is True."""
    values = values.double()[:, None]  # B 1 S E
    least = torch.where(allowed[..., None], values, torch.inf).amin(2)
    most = torch.where(allowed[..., None], values, -torch.inf).amax(2)
    room = 1e-4 * (1 + values.abs().max())
    return (contexts < least - room) | (contexts > most + room)
