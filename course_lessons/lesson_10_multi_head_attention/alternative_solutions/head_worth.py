"""Correct answers to 10.head_worth in other styles than the solution's."""

import torch


def set_back(score, heads):
    on = torch.full((heads,), True)
    whole, worth = score(on), torch.zeros(heads)
    for head in range(heads):
        on[head] = False
        worth[head] = whole - score(on)
        on[head] = True
    return worth


def asked_anew(score, heads):
    worth = []
    for head in range(heads):
        mask = torch.tensor([other != head for other in range(heads)])
        worth.append(score(torch.tensor([True] * heads)) - score(mask))
    return torch.tensor(worth)


NONE_OF_ITS_OWN = "A function that cannot be looked into is called once for each head."
CORRECT = [set_back, asked_anew]
