"""Correct answers to 04.perceptron in other styles than the solution's."""

import torch
import torch.nn.functional as F


def perceptron_by_lists_of_rows(state, hidden, weight_s, weight_h, v):
    def score(s, h):
        return sum(v[a] * torch.tanh(weight_s[a] @ s + weight_h[a] @ h) for a in range(len(v)))

    rows = [torch.stack([score(s, h) for h in hidden[b]]) for b in range(len(state)) for s in state[b]]
    return torch.stack(rows).reshape(*state.shape[:2], hidden.shape[1])


OWN = [lambda s, h, W, U, v: torch.tanh(F.linear(s, W).unsqueeze(2) + F.linear(h, U).unsqueeze(1)) @ v]
CORRECT = [*OWN, perceptron_by_lists_of_rows]
WORKED = [(([[[1]]], [[[2]]], [[2], [1]], [[-1], [1]], [5, 1]), "0.9951")]
