"""How lesson 04 lets scores learn: to find one of eight hidden states in four small worlds, and to find a value at two widths.

The worlds are in `data/find_one.py`, the scores in `models/attention.py`. No task is declared here, and nothing is drawn.
"""

import torch
from torch.nn.functional import cross_entropy

from course_utils.base.steps import with_bar
from course_utils.data.find_one import WORLDS, find_one
from course_utils.models.attention import SCORES, dot, scaled_dot

HIDDEN_STATES, D, A = 8, 5, 32  # D: four numbers, and a 1 behind them
LEARNED = {  # the shapes of what a score learns; the other two of the eight rank hidden states as two of these do
    "dot": (),
    "content_based": (),
    "general": ((D, D),),
    "perceptron": ((A, D), (A, D), (A,)),
    "concatenating": ((2 * D,),),
    "location_based": ((HIDDEN_STATES, D),),
}


def in_all_worlds(score, *shapes, seeds=5):
    """Train a score in each world; return the shares of 1,000 states that find the right hidden state, seeds×worlds.

    Args:
        score: takes states B×1×D, hidden states B×S×D and the learned tensors, and returns scores B×S or B×1×S.
        shapes: of the learned tensors.
    """
    return torch.tensor(
        [[_share_found(score, shapes, world, seed) for world in WORLDS] for seed in with_bar(range(seeds))]
    )


def six_in_all_worlds():
    """Return for six of the eight scores what `in_all_worlds` returns."""
    return {name: in_all_worlds(_of_states_and_hidden(name), *shapes) for name, shapes in LEARNED.items()}


def _of_states_and_hidden(name):
    if name == "location_based":  # its scores without the softmax that is part of it: the log of a weight can be -inf
        return lambda state, hidden, weight: state @ weight.mT
    return SCORES[name]


def _share_found(score, shapes, world, seed, steps=70, rate=0.1):
    batch, generator = find_one(world, seed), torch.Generator().manual_seed(seed)
    learned = [torch.randn(shape, generator=generator) / shape[-1] ** 0.5 for shape in shapes]
    learned = [tensor.requires_grad_() for tensor in learned]
    if learned:
        adam = torch.optim.Adam(learned, lr=rate)
        for _ in range(steps):
            state, hidden, target = batch(64)
            loss = cross_entropy(score(state, hidden, *learned).flatten(1), target)
            adam.zero_grad()
            loss.backward()
            adam.step()
    state, hidden, target = batch(1000)
    return (score(state, hidden, *learned).flatten(1).argmax(-1) == target).float().mean()


def learning_curves(width, seeds=3):
    """Return the losses of two projections in the world "turned", without and with the division by √D: a mean for every ten of 100 steps."""
    runs = {"dot": dot, "scaled dot": scaled_dot}
    return {
        name: torch.stack([_losses(score, width, seed) for seed in with_bar(range(seeds))])
        for name, score in runs.items()
    }


def _losses(score, width, seed, steps=100):
    batch, generator = find_one("turned", seed, D=width), torch.Generator().manual_seed(seed)
    drawn = (torch.randn(width + 1, width, generator=generator) / width**0.5 for _ in range(2))
    W_q, W_k = (matrix.requires_grad_() for matrix in drawn)
    adam = torch.optim.Adam([W_q, W_k], lr=0.048 / width**0.5)  # in proportion to the matrices' numbers
    losses = []
    for _ in range(steps):
        state, hidden, target = batch(64)  # B 1 D+1, B S D+1, B
        values = torch.randn(64, HIDDEN_STATES, 4, generator=generator)  # B S 4
        context = score(state @ W_q, hidden @ W_k).softmax(-1) @ values  # B 1 4
        loss = (context[:, 0] - values[torch.arange(64), target]).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return torch.tensor(losses).reshape(-1, 10).mean(1)


def lowest_loss(width, seeds=3, states=4000):
    """Return the loss in "turned" of the true orthogonal matrix, with the best of several factors for its scores: a mean over the seeds."""
    return sum(_loss_of_true_matrix(width, seed, states) for seed in range(seeds)) / seeds


def _loss_of_true_matrix(width, seed, states):
    generator = torch.Generator().manual_seed(seed)
    q, r = torch.linalg.qr(torch.randn(width, width, generator=generator))  # as `find_one` draws it
    turn = q * r.diagonal().sign()
    state, hidden, target = find_one("turned", seed, D=width)(states)
    scores = (state[..., :-1] @ turn.T) @ hidden[..., :-1].mT  # B 1 S
    values = torch.randn(states, HIDDEN_STATES, 4, generator=generator)  # B S 4
    right = values[torch.arange(states), target]  # B 4
    contexts = (((factor * scores).softmax(-1) @ values)[:, 0] for factor in (0.5, 0.75, 1, 1.25, 1.5, 2, 3))
    return min((context - right).square().mean().item() for context in contexts)
