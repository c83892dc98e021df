"""Right answers to 18.mixture_loss in other styles than the solution's: the largest taken out, cdist's square, a library's mixture, loops."""

import math

import torch
import torch.nn.functional as F
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal


def by_the_largest(outputs, gates, target):
    """The largest term of each row is taken out of the sum."""
    exponents = torch.log(gates) - 0.5 * ((target.unsqueeze(1) - outputs) ** 2).sum(-1)
    top = exponents.max(1, keepdim=True).values.detach()
    return -(top.squeeze(1) + (exponents - top).exp().sum(1).log()).mean()


def by_einsum(outputs, gates, target):
    off = outputs - target[:, None]
    distances = torch.einsum("bnd,bnd->bn", off, off)
    return -torch.logsumexp(torch.log(gates) - distances / 2, -1).mean(0)


def by_the_mean_squared_error(outputs, gates, target):
    wanted = target[:, None].expand_as(outputs)
    squared = F.mse_loss(outputs, wanted, reduction="none").sum(2)
    return torch.logsumexp(gates.log() - squared / 2, 1).neg().sum() / len(target)


def by_distributions(outputs, gates, target):
    """A normal distribution around each expert, without its constant."""
    around = torch.distributions.Normal(outputs, torch.ones_like(outputs))
    constant = torch.log(torch.tensor(2 * torch.pi, dtype=outputs.dtype)) / 2
    likelihoods = (around.log_prob(target[:, None]) + constant).sum(-1)
    return (-(gates.log() + likelihoods).logsumexp(dim=1)).mean()


def by_log_softmax(outputs, gates, target):
    """A row's log likelihood is one joint term less the log of its share."""
    joint = gates.log() - (target[:, None] - outputs).pow(2).sum(-1) / 2
    best = joint.detach().argmax(1, keepdim=True)
    return -(joint.gather(1, best) - joint.log_softmax(1).gather(1, best)).mean()


def two_by_two(outputs, gates, target):
    """logaddexp adds one expert after the other."""
    exponents = gates.log() - (target[:, None] - outputs).square().sum(2) / 2
    total = exponents[:, 0]
    for i in range(1, exponents.shape[1]):
        total = torch.logaddexp(total, exponents[:, i])
    return -total.mean()


def row_by_row(outputs, gates, target):
    B, N, D = outputs.shape
    losses = []
    for b in range(B):
        terms = []
        for i in range(N):
            squared = 0
            for d in range(D):
                squared = squared + (target[b, d] - outputs[b, i, d]) ** 2
            if gates[b, i] > 0:
                terms.append(torch.log(gates[b, i]) - squared / 2)
        biggest = max(terms)
        total = 0
        for term in terms:
            total = total + torch.exp(term - biggest)
        losses.append(-(biggest + torch.log(total)))
    return sum(losses) / B


def by_a_mixture(outputs, gates, target):
    """A mixture of normal distributions, without the constant of each."""
    experts = Independent(Normal(outputs, torch.ones_like(outputs)), 1)
    likelihoods = MixtureSameFamily(Categorical(logits=gates.log()), experts).log_prob(target)
    return -(likelihoods + target.shape[1] * math.log(2 * math.pi) / 2).mean()


# PyTorch's own
OWN = [
    by_a_mixture,
    by_distributions,
]
RIGHT = [
    *OWN,
    by_the_largest,
    by_einsum,
    by_the_mean_squared_error,
    by_log_softmax,
    two_by_two,
    # As beginners write them
    row_by_row,
]
WORKED = [
    (([[[3], [5]]], [[0.5, 0.5]], [[3]]), "0.5662"),
    (([[[3], [5]]], [[0.5, 0.5]], [[4]]), "0.5"),
    (([[[3], [5]], [[3], [5]]], [[0.5, 0.5], [0.5, 0.5]], [[3], [4]]), "0.5331"),
]
INPUTS = {"gates": lambda draw: draw.probabilities("B×N"), "target": lambda draw: draw.numbers("B×D")}
