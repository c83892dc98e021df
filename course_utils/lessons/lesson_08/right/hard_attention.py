"""Right answers to 08.hard_attention in other styles than the solution's: searchsorted, loops, one-hot, weights renormalised to find the place."""

import torch


def by_searchsorted(weights, values, uniform):
    S = weights.shape[1]
    places = torch.arange(S).expand_as(weights)
    last = torch.where(weights > 0, places, -1).amax(dim=1)
    found = torch.searchsorted(weights.detach().cumsum(1), uniform.unsqueeze(1), right=True).squeeze(1)
    place = torch.min(found, last)
    picked = values.gather(1, place.view(-1, 1, 1).expand(-1, 1, values.shape[2])).squeeze(1)
    return picked, weights.gather(1, place[:, None]).squeeze(1).log()


def by_loops(weights, values, uniform):
    picked, log_probability = [], []
    for b in range(len(weights)):
        total, place = 0.0, None
        for s in range(weights.shape[1]):
            if weights[b, s] > 0:
                place = s
                total = total + weights[b, s].item()
                if total > uniform[b].item():
                    break
        picked.append(values[b, place])
        log_probability.append(torch.log(weights[b, place]))
    return torch.stack(picked), torch.stack(log_probability)


def by_one_hot(weights, values, uniform):
    ends = weights.detach().cumsum(1)
    starts = torch.cat([torch.zeros_like(ends[:, :1]), ends[:, :-1]], 1)
    chosen = (starts <= uniform[:, None]) & (uniform[:, None] < ends)
    last = weights.shape[1] - 1 - (weights.flip(1) > 0).int().argmax(1)
    chosen[~chosen.any(1), :] = torch.nn.functional.one_hot(last, weights.shape[1]).bool()[~chosen.any(1)]
    picked = torch.einsum("bs,bse->be", chosen.to(values.dtype), values)
    return picked, (weights * chosen).sum(1).log()


def weights_divided_by_their_sum_to_find_the_place(weights, values, uniform):
    ends = weights.detach().double().cumsum(1)
    ends = ends / ends[:, -1:]  # so that the last one with weight is exactly 1
    place = (ends > uniform[:, None].double()).int().argmax(1)
    logs = torch.nn.functional.nll_loss(torch.where(weights > 0, weights, 1.0).log(), place, reduction="none")
    return values[range(len(weights)), place], -logs


def by_counting(weights, values, uniform):
    passed = (weights.cumsum(1) <= uniform[:, None]).sum(1)
    last = (weights > 0).long().cumsum(1).argmax(1)
    row, place = torch.arange(len(weights)), torch.minimum(passed, last)
    return values[row, place], weights[row, place].log()


def by_argmax_with_infinity(weights, values, uniform):
    ends = torch.cumsum(weights, dim=1)
    ends = torch.where(weights > 0, ends, -1.0)
    last = ends.argmax(dim=1)  # the first of the largest: ends grow with each weight
    exceeds = ends > uniform[:, None]
    place = torch.where(exceeds.any(dim=1), exceeds.long().argmax(dim=1), last)
    index = (torch.arange(weights.size(0)), place)
    return values[index], torch.log(weights[index])


def by_index_select(weights, values, uniform):
    B, S, E = values.shape
    place = []
    for row, u in zip(weights.tolist(), uniform.tolist(), strict=True):
        with_weight = [s for s in range(S) if row[s] > 0]
        above = [s for s in with_weight if sum(row[: s + 1]) > u]
        place.append(above[0] if above else with_weight[-1])
    flat = torch.tensor(place) + S * torch.arange(B)
    return values.reshape(B * S, E).index_select(0, flat), weights.reshape(-1).index_select(0, flat).log()


# PyTorch's own
OWN = [
    by_searchsorted,
]
RIGHT = [
    *OWN,
    by_counting,
    by_one_hot,
    weights_divided_by_their_sum_to_find_the_place,
    by_argmax_with_infinity,
    # As beginners write them
    by_loops,
    by_index_select,
]
WORKED = [(([[0.2, 0.5, 0.3]], [[[1], [5], [9]]], [0.6]), "5 -0.6931")]
INPUTS = {
    "weights": lambda draw: draw.probabilities("B×S", zeros=0.3),
    "uniform": lambda draw: draw.between("B", 0, 1),
}
