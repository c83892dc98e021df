"""Correct answers to 19.ideal_weights in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_normalize(characters):
    read = F.pad(characters[:-1] == characters[-1], (1, 0))
    return F.normalize(read.float(), p=1, dim=0)


def as_beginners_write(characters):
    weights = []
    for t in range(len(characters)):
        if t > 0 and characters[t - 1] == characters[-1]:
            weights.append(1.0)
        else:
            weights.append(0.0)
    return torch.tensor(weights) / sum(weights)


OWN = [by_normalize]
CORRECT = [*OWN, as_beginners_write]
WORKED = [(([4, 4, 0, 2, 4],), "0 0.5 0.5 0 0")]


def characters(draw):
    """A few characters, of which the last was shown before."""
    drawn = draw.whole("T", 0, 4)
    return torch.cat([drawn, drawn[[draw.randrange(len(drawn))]]])


INPUTS = {"characters": characters}
