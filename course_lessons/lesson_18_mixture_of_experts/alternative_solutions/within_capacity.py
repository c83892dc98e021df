"""Correct answers to 18.within_capacity in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_the_running_sum(chosen, experts, capacity):
    sent = F.one_hot(chosen, num_classes=experts)
    place = (sent.cumsum(0) * sent).sum(1) - 1  # from 0
    return place < capacity


def by_counting_backwards(chosen, experts, capacity):
    kept = []
    for b in range(len(chosen)):
        earlier = sum(chosen[before] == chosen[b] for before in range(b))
        kept.append(bool(earlier < capacity))
    return torch.tensor(kept)


OWN = [by_the_running_sum]
CORRECT = [*OWN, by_counting_backwards]
INPUTS = {"experts": lambda draw: draw.size("N"), "capacity": lambda draw: draw.randint(0, 4)}
