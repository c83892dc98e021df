"""Correct answers to 08.catch_biased_gradient in other styles than the solution's."""

import itertools
import random

import torch


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


def with_shuffled_calls(estimator):
    """Every combination in a random order, for N = 2 and N = 3, compared by relative error."""
    order = random.Random(0)
    for N, numbers, p, rewards in (
        (2, [(i + 0.5) / 8 for i in range(8)], [0.25, 0.125, 0.125, 0.5], [0.5, -2.0, 3.0, 1.0]),
        (3, [0.1, 0.3, 0.7, 0.9], [0.5, 0.25, 0.25], [1.5, -2.0, 3.0]),
    ):
        p, rewards = torch.tensor(p), torch.tensor(rewards)
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


OWN = [by_the_probabilities_of_picks]
CORRECT = [*OWN, with_shuffled_calls]
