"""Right answers to 18.within_capacity in other styles than the solution's: all pairs, sorting, one expert after another, loops."""

import torch
import torch.nn.functional as F


def by_all_pairs(chosen, experts, capacity):
    """Each token counts the earlier ones of its expert."""
    same = chosen[:, None] == chosen
    return same.tril(-1).sum(1) < capacity


def by_the_running_sum(chosen, experts, capacity):
    sent = F.one_hot(chosen, num_classes=experts)
    place = (sent.cumsum(0) * sent).sum(1) - 1  # from 0
    return place < capacity


def by_the_room_of_all(chosen, experts, capacity):
    sent = F.one_hot(chosen, experts).bool()
    return (sent & (sent.cumsum(dim=0) <= capacity)).any(dim=1)


def by_sorting(chosen, experts, capacity):
    """In the order of the experts, a token's place is its distance from the first one of its expert."""
    order = chosen.argsort(stable=True)
    first = torch.searchsorted(chosen[order], chosen[order])
    kept = torch.empty(len(chosen), dtype=torch.bool)
    kept[order] = torch.arange(len(chosen)) - first < capacity
    return kept


def one_expert_after_another(chosen, experts, capacity):
    kept = torch.zeros_like(chosen, dtype=torch.bool)
    for expert in range(experts):
        kept[(chosen == expert).nonzero()[:capacity, 0]] = True
    return kept


def token_by_token(chosen, experts, capacity):
    taken = {}
    result = []
    for expert in chosen.tolist():
        n = taken.get(expert, 0)
        result.append(n < capacity)
        taken[expert] = n + 1
    return torch.tensor(result)


def by_counting_backwards(chosen, experts, capacity):
    kept = torch.zeros(len(chosen)).bool()
    for b in range(len(chosen)):
        earlier = 0
        for before in range(b):
            if chosen[before] == chosen[b]:
                earlier = earlier + 1
        kept[b] = earlier < capacity
    return kept


# PyTorch's own
OWN = [
    by_the_running_sum,
]
RIGHT = [
    *OWN,
    by_all_pairs,
    by_the_room_of_all,
    by_sorting,
    one_expert_after_another,
    # As beginners write them
    token_by_token,
    by_counting_backwards,
]
INPUTS = {"experts": lambda draw: draw.size("N"), "capacity": lambda draw: draw.randint(0, 4)}
