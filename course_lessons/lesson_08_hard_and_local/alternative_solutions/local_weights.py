"""Correct answers to 08.local_weights in other styles than the solution's."""

import math

import torch


def place_by_place(scores, centre, window, mask):
    result = torch.zeros(scores.shape)
    for b in range(scores.shape[0]):
        near = [s for s in range(scores.shape[1]) if mask[b, s] and abs(s - centre[b]) <= window]
        align = torch.softmax(torch.stack([scores[b, s] for s in near]), dim=0) if near else []
        for share, s in zip(align, near, strict=True):
            result[b, s] = share * torch.exp(-((s - centre[b]) ** 2) / (2 * (window / 2) ** 2))
    return result


def by_the_librarys_distribution(scores, centre, window, mask):
    sigma = torch.tensor(window / 2, dtype=scores.dtype)
    places = torch.arange(scores.shape[1], dtype=scores.dtype)
    normal = torch.distributions.Normal(centre[:, None], sigma)
    gaussian = (normal.log_prob(places) + sigma.log() + math.log(2 * math.pi) / 2).exp()
    near = mask & ((places - centre[:, None]).abs() <= window)
    weights = torch.where(near, scores, torch.full_like(scores, -torch.inf)).softmax(1)
    return torch.where(near, weights, torch.zeros_like(weights)) * gaussian


def in_the_logarithm(scores, centre, window, mask):
    distance = torch.arange(scores.shape[1]) - centre[:, None]
    near = mask & ~(distance.abs() > window)
    clean = scores.masked_fill(~near, 0.0)
    filled = clean.masked_fill(~near, torch.finfo(scores.dtype).min)
    log_share = clean - filled.logsumexp(1, keepdim=True).where(near.any(1, keepdim=True), torch.zeros(1))
    return torch.where(near, log_share - 2 * distance**2 / window**2, -torch.inf).exp()


OWN = [by_the_librarys_distribution]
CORRECT = [*OWN, in_the_logarithm, place_by_place]
WORKED = [(([[0, math.log(3), 9]], [0], 1, [[True, True, True]]), "0.25 0.1015 0")]
INPUTS = {
    "centre": lambda draw: draw.between("B", 0, draw.size("S")),
    "window": lambda draw: draw.choice([0.5, 1, 2, 3.5]),
    "mask": lambda draw: draw.words_first(0),
}
