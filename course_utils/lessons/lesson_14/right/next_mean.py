"""Right answers to 14.next_mean in other styles than the solution's: autograd, an optimizer, products, loops."""

import torch
from torch.distributions import Normal


def by_an_optimizer(mean, location, std, reward, baseline, rate):
    moved = mean.detach().clone().requires_grad_()
    log_p = Normal(moved, float(std)).log_prob(location).sum(1)
    (-((reward - baseline).detach() * log_p).mean()).backward()
    torch.optim.SGD([moved], lr=rate).step()
    return moved.detach()


def by_autograd(mean, location, std, reward, baseline, rate):
    with torch.enable_grad():
        mu = mean.detach().clone().requires_grad_()
        squares = ((location - mu) / std).square().sum(-1)
        loss = ((reward - baseline) * squares / 2).mean()
        (gradient,) = torch.autograd.grad(loss, mu)
    return mean - rate * gradient


def by_a_product(mean, location, std, reward, baseline, rate):
    return mean + (reward - baseline) @ (location - mean) * rate / (len(reward) * std**2)


def as_beginners_write(mean, location, std, reward, baseline, rate):
    x, y = 0, 0
    for i in range(len(location)):
        better = reward[i] - baseline[i]
        x = x + better * (location[i, 0] - mean[0]) / (std * std)
        y = y + better * (location[i, 1] - mean[1]) / (std * std)
    return torch.stack([mean[0] + rate * x / len(location), mean[1] + rate * y / len(location)])


# PyTorch's own
OWN = [
    by_an_optimizer,
]
RIGHT = [*OWN, by_autograd, by_a_product, as_beginners_write]
WORKED = [(([0, 0], [[0.5, 0], [-0.5, 0.25]], 0.5, [1, 0], [0.5, 0.5], 0.1), "0.1 -0.025")]
INPUTS = {"std": lambda draw: draw.uniform(0.05, 2), "rate": lambda draw: draw.uniform(0.05, 1)}
