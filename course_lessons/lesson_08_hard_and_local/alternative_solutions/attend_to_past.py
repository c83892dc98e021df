"""Correct answers to 08.attend_to_past in other styles than the solution's."""

from math import log

import torch
import torch.nn.functional as F


def by_the_library(states):
    if states.shape[1] == 1:
        return torch.zeros_like(states)
    T = states.shape[1] - 1  # the second state's query sees one key
    later = F.scaled_dot_product_attention(
        states[:, 1:], states[:, :-1], states[:, :-1], torch.ones(T, T).tril().bool()
    )
    return F.pad(later, (0, 0, 1, 0))


def state_by_state(states):
    contexts = torch.zeros(states.shape)
    for b in range(len(states)):
        for t in range(1, states.shape[1]):
            scores = torch.stack([torch.dot(states[b, t], states[b, j]) for j in range(t)]) / states.shape[2] ** 0.5
            alpha = torch.softmax(scores, dim=0)
            for j in range(t):
                contexts[b, t] = contexts[b, t] + alpha[j] * states[b, j]
    return contexts


OWN = [by_the_library]
CORRECT = [*OWN, state_by_state]
WORKED = [(([[[0, 0, 0, 0], [2 * log(3), 0, 0, 0], [1, 0, 0, 0]]],), "0 0 0 0 0 0 0 0 1.6479 0 0 0")]
