"""Right answers to 08.catch_biased_gradient in other styles than the solution's: by chance, in every cell, by the probabilities of picks, loops."""

import itertools
import random

import numpy as np
import torch


def by_chance(estimator):
    """Random draws, the same for every candidate, and room for four standard errors."""
    draw = torch.Generator().manual_seed(3)
    for N, p, rewards in ((2, [0.7, 0.1, 0.2], [-2.0, 2.0, -1.0]), (5, [0.5, 0.5], [2.0, -2.0])):
        p, rewards = torch.tensor(p), torch.tensor(rewards)
        right = p * (rewards - p @ rewards)
        try:
            came = [estimator(p.log() - 2, rewards, torch.rand(N, generator=draw)) for _ in range(100)]
            came = torch.stack(came).double()
        except Exception:
            return False
        error = came.std(0) / len(came) ** 0.5
        if not ((came.mean(0) - right).abs() < 4 * error + 1e-4).all():
            return False
    return True


def in_every_cell(estimator):
    """Each combination of quarters once, at a random number within each quarter."""
    rng = np.random.default_rng(0)
    p, rewards = torch.tensor([0.25, 0.5, 0.25]), torch.tensor([-2.0, 1.5, 0.5])
    right = p * (rewards - (p * rewards).sum())
    for N in (2, 3):
        total = torch.zeros(3)
        for cells in itertools.product(range(4), repeat=N):
            uniform = (torch.tensor(cells) + torch.tensor(rng.uniform(0.05, 0.95, N))) / 4
            try:
                total = total + estimator(p.log() + 0.5, rewards, uniform.float())
            except Exception:
                return False
        if not np.allclose(total / 4**N, right, atol=2e-5):
            return False
    return True


def by_the_probabilities_of_picks(estimator):
    """Any probabilities: one number in each place's piece, and each call weighted by the probability of its picks."""
    torch.manual_seed(2)
    logits, rewards = torch.randn(3) + 1, 2 * torch.randn(3)
    p = logits.softmax(0)
    middles = p.cumsum(0) - p / 3
    leaf = logits.clone().requires_grad_()
    (right,) = torch.autograd.grad(leaf.softmax(0) @ rewards, leaf)
    try:
        for N in (2, 3, 4):
            mean = 0
            for picks in itertools.product(range(3), repeat=N):
                picks = torch.tensor(picks)
                mean = mean + p[picks].prod() * estimator(logits.clone(), rewards.clone(), middles[picks])
            if (mean - right).abs().max() > 1e-5:
                return False
    except Exception:
        return False
    return True


def step_by_step(estimator):
    """As a beginner writes it: two loops, two settings, and the gradient written out."""
    for p, rewards in (([0.25, 0.5, 0.25], [3.0, 0.5, -1.0]), ([0.25, 0.25, 0.5], [-1.0, 4.0, 2.0])):
        expected = sum(a * b for a, b in zip(p, rewards, strict=True))
        right = [a * (b - expected) for a, b in zip(p, rewards, strict=True)]
        logits = torch.log(torch.tensor(p)) + 3
        total = [0.0, 0.0, 0.0]
        for i in range(4):
            for j in range(4):
                try:
                    g = estimator(logits, torch.tensor(rewards), torch.tensor([(i + 0.5) / 4, (j + 0.5) / 4]))
                    total = [t + float(x) for t, x in zip(total, g, strict=True)]
                except Exception:
                    return False
        if any(abs(t / 16 - r) > 1e-4 for t, r in zip(total, right, strict=True)):
            return False
    # Three draws, with two places
    total = 0.0
    for a in (0.25, 0.75):
        for b in (0.25, 0.75):
            for c in (0.25, 0.75):
                try:
                    total += float(estimator(torch.zeros(2), torch.tensor([1.0, -3.0]), torch.tensor([a, b, c]))[0])
                except Exception:
                    return False
    return abs(total / 8 - 1.0) < 1e-4


def with_shuffled_calls(estimator):
    """Every combination in a random order, for N = 2 and N = 3, compared by relative error."""
    order = random.Random(0)
    p = torch.tensor([2, 1, 1, 4]) / 8
    rewards = torch.tensor([0.5, -2.0, 3.0, 1.0])
    true = p * (rewards - torch.dot(p, rewards))
    grid = {2: [(i + 0.5) / 8 for i in range(8)], 3: [0.1, 0.3, 0.7, 0.9]}
    for N, numbers in grid.items():
        if N == 3:
            p, rewards = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([1.5, -2.0, 3.0])
            true = p * (rewards - torch.dot(p, rewards))
        calls = list(itertools.product(numbers, repeat=N))
        order.shuffle(calls)
        try:
            came = sum(estimator(torch.log(4 * p), rewards, torch.tensor(call)) for call in calls) / len(calls)
            if torch.linalg.norm(came - true) > 1e-4 * torch.linalg.norm(true):
                return False
        except Exception:
            return False
    return True


# PyTorch's own
OWN = [
    by_the_probabilities_of_picks,
]
RIGHT = [*OWN, by_chance, in_every_cell, step_by_step, with_shuffled_calls]
