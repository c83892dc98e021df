"""What holds for attention weights whatever the lesson: said of a wrong answer that breaks it. No task is declared here."""


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
