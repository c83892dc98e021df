"""Correct answers to 04.ignores_query in other styles than the solution's."""

import torch


def by_many_states_at_once(score, state, hidden):
    states = torch.randn(len(state), 20, state.shape[-1])
    weights = torch.softmax(score(states, hidden), dim=2)
    return weights.std(dim=1).max().item() < 1e-4


def by_variance(score, state, hidden):
    centred = []
    for _ in range(3):
        scores = score(torch.randn(state.shape) * 2, hidden)
        centred.append(scores - scores.mean(-1, keepdim=True))
    return torch.stack(centred).var(0).max() < 1e-6


NONE_OF_ITS_OWN = "It is a search for a state that changes the weights."
CORRECT = [by_many_states_at_once, by_variance]
