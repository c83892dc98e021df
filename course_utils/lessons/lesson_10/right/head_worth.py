"""Right answers to 10.head_worth in other styles than the solution's: loops, one mask set back, numpy, rows of a matrix."""

import numpy as np
import torch


def set_back(score, heads):
    on = torch.full((heads,), True)
    whole, worth = score(on), torch.zeros(heads)
    for head in range(heads):
        on[head] = False
        worth[head] = whole - score(on)
        on[head] = True
    return worth


def rows_of_a_matrix(score, heads):
    masks = ~torch.eye(heads, dtype=torch.bool)
    return score(torch.ones(heads) > 0) - torch.tensor([score(mask) for mask in masks])


def by_numpy(score, heads):
    scores = np.array([score(torch.from_numpy(np.arange(heads) != head)) for head in range(heads + 1)])
    return torch.from_numpy(scores[-1] - scores[:-1]).float()


def asked_anew(score, heads):
    worth = []
    for head in range(heads):
        mask = torch.tensor([other != head for other in range(heads)])
        worth.append(score(torch.tensor([True] * heads)) - score(mask))
    return torch.tensor(worth)


NONE_OF_ITS_OWN = "A function that cannot be looked into is called once for each head."
RIGHT = [
    set_back,
    rows_of_a_matrix,
    by_numpy,
    # As beginners write them
    asked_anew,
]
