"""Learning where to look when nobody says where: hard attention at its smallest.

Here: a matrix of weights that learns, from the answers alone, which of several hidden states belongs to a state. Not here: the losses,
which lesson 08 makes, nor the world (`data/find_one.py`).

Shape letters: B questions, S places, D width.
"""

from collections.abc import Callable

import torch

from course_utils.data.find_one import find_one

COLOURS = 4


def learn_to_look(loss: Callable, seed: int, steps=250, B=16, S=10, D=8) -> list[float]:
    """Train the scores sᵀ W h of S hidden states, of which each bears one of four colours; the right one's colour is asked.

    Args:
        loss: function(scores B×S, rewards B×S, baseline) → the loss, and the mean reward. The reward of a place is 1 where its colour
            is the right one's; the baseline is a running mean of the mean rewards so far.
        seed: of the world, the start and all draws.

    Returns:
        The mean weight on the right place of 500 new questions, before training and after every 25 steps.
    """
    torch.manual_seed(seed)
    batch, baseline, grown = find_one("turned", seed, S, D), 0.0, []
    W = (0.1 * torch.randn(D + 1, D + 1)).requires_grad_()
    optimizer = torch.optim.Adam([W], lr=0.02)
    for step in range(steps + 1):
        if step % 25 == 0:
            with torch.no_grad():
                state, hidden, place = batch(500)
                weights = (state @ W @ hidden.mT).squeeze(1).softmax(-1)  # 500 S
                grown.append(weights[torch.arange(500), place].mean().item())
        state, hidden, place = batch(B)
        colours = torch.randint(COLOURS, (B, S))
        rewards = (colours == colours[torch.arange(B), place][:, None]).float()  # B S
        value, reward = loss((state @ W @ hidden.mT).squeeze(1), rewards, baseline)
        baseline = 0.9 * baseline + 0.1 * reward.item()
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    return grown
