"""Right answers to 18.importance_loss in other styles than the solution's: the variance written out, shares, einsum, loops."""

import torch


def written_out(gates):
    importance = gates.sum(0)
    mean = importance.mean()
    return ((importance - mean) ** 2).mean() / mean**2


def by_shares(gates):
    """Importance divided by its mean has the mean 1."""
    shares = gates.sum(0) / gates.sum(0).mean()
    return (shares - 1).square().mean()


def by_means(gates):
    """Means in place of sums: the size of the batch cancels."""
    importance = gates.mean(dim=0)
    return torch.var(importance, unbiased=False) / importance.mean().pow(2)


def by_squares(gates):
    """N times the sum of squares over the square of the sum, less 1."""
    importance = torch.einsum("bn->n", gates)
    return len(importance) * importance.dot(importance) / importance.sum() ** 2 - 1


def by_a_product(gates):
    importance = gates.new_ones(1, gates.shape[0]) @ gates  # 1 N
    off = importance - importance.mean()
    return (off @ off.mT).squeeze() / gates.shape[1] / importance.mean() ** 2


def by_var_mean(gates):
    variance, mean = torch.var_mean(gates.sum(0), correction=0)
    return variance / (mean * mean + 1e-12)


def by_the_deviation(gates):
    """torch.std has a gradient of 0 where it is 0."""
    importance = gates.sum(0)
    return (importance.std(correction=0) / importance.mean()) ** 2


def expert_by_expert(gates):
    B, N = gates.shape
    importance = []
    for i in range(N):
        total = 0
        for b in range(B):
            total = total + gates[b, i]
        importance.append(total)
    mean = sum(importance) / N
    variance = 0
    for one in importance:
        variance = variance + (one - mean) ** 2 / N
    return variance / mean**2


# PyTorch's own
OWN = [
    by_var_mean,
]
RIGHT = [
    *OWN,
    written_out,
    by_shares,
    by_means,
    by_squares,
    by_a_product,
    by_the_deviation,
    # As beginners write them
    expert_by_expert,
]
WORKED = [(([[0.5, 0.5, 0], [0.25, 0, 0.75]],), "0.0312")]
INPUTS = {"gates": lambda draw: draw.probabilities("B×N", zeros=0.3)}
