"""What holds for attention weights, for what they make of values, and for cosines, whatever the lesson: said of an incorrect answer that breaks it. No task is declared here."""

import torch


def rows_sum_to_one(case, value):
    """Return a sentence unless weights sum to 1 along the last axis, or to 0 where nothing may be attended."""
    weights = value[-1] if isinstance(value, tuple) else value
    sums = weights.double().sum(-1).reshape(-1)
    off = (sums - 1).abs().min((sums).abs()) > 1e-4
    if not off.any():
        return None
    columns = weights.dim() > 1 and bool(((weights.double().sum(-2) - 1).abs() <= 1e-4).all())
    instead = " Your columns do: do you normalise over the last axis?" if columns else ""
    return f"Rows should sum to 1; one of yours sums to {sums[off][0]:.4g}.{instead}"


def no_weight_is_negative(case, value):
    """Return a sentence if an attention weight is negative."""
    weights = value[-1] if isinstance(value, tuple) else value
    return f"A weight should not be negative; the smallest is {weights.min():.4g}." if (weights < 0).any() else None


def nothing_where_masked(weights, mask):
    """Return a sentence if an attention weight is above 0 where the mask is False."""
    leaked = weights.masked_fill(mask, 0.0)
    if not (leaked > 1e-6).any():
        return None
    if leaked.max() < 0.01:
        advice = "Only a score of -inf leaves no weight: any finite one, such as -100, may leave some."
    elif not (leaked[mask.any(-1)] > 1e-6).any():
        advice = "It is in a row with nothing to attend to. All weights of such a row should be 0, and any finite score instead of -inf leaves some there."
    else:
        advice = (
            "Is the score there -inf before the softmax? And do you use the right row of the mask, in the right order?"
        )
    return f"Where the mask is False the weight should be 0; one of yours is {leaked.max():.4g}. {advice}"


def cosines_reach_far_enough(value, right):
    """Return a sentence if every cosine is a little nearer to 0 than it should be."""
    share = (value / right)[right.abs() > 1e-3]
    if len(share) and (share < 1 - 1e-5).all() and (share > 0.95).all():
        return "Every one of these cosines is slightly too close to 0. Do you add a small number, such as 1e-3, to the lengths or to the denominator? That changes every cosine, most of all for short vectors: divide by the lengths alone, and return 0 where a length is 0."
    return None


def zeros_only_for_zero_vectors(value, right, *vectors):
    """Return a sentence if cosines are 0 for vectors of which only an entry, or the sum of the entries, is 0, and right elsewhere."""
    partly = sum(((v == 0).any(-1) | (v.sum(-1).abs() < 1e-6)).to(right.dtype) for v in vectors) > 0
    lost = (value == 0) & (right.abs() > 1e-4)
    if not lost.any() or (lost & ~partly).any() or ((value - right).abs() > 1e-4)[~lost].any():
        return None
    return "One of your cosines is 0 although neither vector is zero. A vector is zero only if all of its entries are 0: neither a single entry of 0 nor entries that add up to 0 make it so."


def outside_the_values(contexts, values, allowed):
    """Return where contexts B×T×E lie outside what they are weighted means of: those of `values` B×S×E for which `allowed`, which fits B×T×S, is True."""
    values = values.double()[:, None]  # B 1 S E
    least = torch.where(allowed[..., None], values, torch.inf).amin(2)
    most = torch.where(allowed[..., None], values, -torch.inf).amax(2)
    tolerance = 1e-4 * (1 + values.abs().max())
    return (contexts < least - tolerance) | (contexts > most + tolerance)
