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


def from_exponentials(states):
    T = states.shape[1]
    past = torch.ones(T, T).tril(-1).to(states.dtype)
    scores = states @ states.mT / states.shape[2] ** 0.5
    most = scores.detach().masked_fill(past == 0, -1e30).amax(-1, keepdim=True)
    e = ((scores - most) * past).exp() * past
    return e @ states / e.sum(-1, keepdim=True).clamp(min=1e-20)


def state_by_state(states):
    B, T, D = states.shape
    contexts = torch.zeros(B, T, D)
    for b in range(B):
        for t in range(T):
            if t == 0:
                continue
            scores = torch.stack([torch.dot(states[b, t], states[b, j]) for j in range(t)]) / D**0.5
            alpha = torch.softmax(scores, dim=0)
            for j in range(t):
                contexts[b, t] = contexts[b, t] + alpha[j] * states[b, j]
    return contexts


# PyTorch's own
OWN = [
    by_the_library,
]
CORRECT = [
    *OWN,
    from_exponentials,
    state_by_state,
]
WORKED = [(([[[0, 0, 0, 0], [2 * log(3), 0, 0, 0], [1, 0, 0, 0]]],), "0 0 0 0 0 0 0 0 1.6479 0 0 0")]
