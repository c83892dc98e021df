"""Right answers to 14.location_log_probability in other styles than the solution's: distributions, a squared distance, loops."""

import math

import torch
from torch.distributions import Independent, MultivariateNormal, Normal


def by_normal(location, mean, std):
    return Normal(mean, std).log_prob(location).sum(dim=-1)


def by_independent(location, mean, std):
    return Independent(Normal(mean, torch.full_like(mean, std)), 1).log_prob(location)


def by_multivariate(location, mean, std):
    spread = std * torch.eye(2, dtype=mean.dtype)
    return MultivariateNormal(mean, scale_tril=spread).log_prob(location)


def by_squared_distance(location, mean, std):
    squared = (location - mean).pow(2).sum(1)
    return -squared / (2 * std**2) - math.log(2 * math.pi * std**2)


def by_einsum(location, mean, std):
    away = (location - mean) / std
    return -0.5 * torch.einsum("bc,bc->b", away, away) - 2 * math.log(std) - math.log(2 * math.pi)


def by_loss(location, mean, std):
    """gaussian_nll_loss is minus the log density, of the variance."""
    variance = torch.full_like(mean, std**2)
    losses = torch.nn.functional.gaussian_nll_loss(mean, location, variance, full=True, eps=1e-12, reduction="none")
    return -losses.sum(1)


def as_beginners_write(location, mean, std):
    result = []
    for i in range(len(location)):
        total = 0
        for c in range(2):
            z = (location[i, c] - mean[i, c]) / std
            total = total - z * z / 2 - math.log(std) - 0.5 * math.log(2 * math.pi)
        result.append(total)
    return torch.stack(result)


# PyTorch's own
OWN = [
    by_normal,
    by_independent,
    by_multivariate,
    by_loss,
]
RIGHT = [*OWN, by_squared_distance, by_einsum, as_beginners_write]
WORKED = [(([[0.5, 0]], [[0, 0]], 0.5), "-0.9516"), (([[0, 0]], [[0, 0]], 0.1), "2.7673")]
INPUTS = {"std": lambda draw: draw.uniform(0.05, 2)}
