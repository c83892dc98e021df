"""Correct answers to 08.hard_attention in other styles than the solution's."""

import torch


def by_searchsorted(weights, values, uniform):
    S = weights.shape[1]
    places = torch.arange(S).expand_as(weights)
    last = torch.where(weights > 0, places, -1).amax(dim=1)
    found = torch.searchsorted(weights.detach().cumsum(1), uniform.unsqueeze(1), right=True).squeeze(1)
    place = torch.min(found, last)
    picked = values.gather(1, place.view(-1, 1, 1).expand(-1, 1, values.shape[2])).squeeze(1)
    return picked, weights.gather(1, place[:, None]).squeeze(1).log()


def by_index_select(weights, values, uniform):
    B, S, E = values.shape
    place = []
    for row, u in zip(weights.tolist(), uniform.tolist(), strict=True):
        with_weight = [s for s in range(S) if row[s] > 0]
        above = [s for s in with_weight if sum(row[: s + 1]) > u]
        place.append(above[0] if above else with_weight[-1])
    flat = torch.tensor(place) + S * torch.arange(B)
    return values.reshape(B * S, E).index_select(0, flat), weights.reshape(-1).index_select(0, flat).log()


OWN = [by_searchsorted]
CORRECT = [*OWN, by_index_select]
WORKED = [(([[0.2, 0.5, 0.3]], [[[1], [5], [9]]], [0.6]), "5 -0.6931")]
INPUTS = {
    "weights": lambda draw: draw.probabilities("B×S", zeros=0.3),
    "uniform": lambda draw: draw.between("B", 0, 1),
}
