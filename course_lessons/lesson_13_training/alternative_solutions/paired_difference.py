"""Correct answers to 13.paired_difference in other styles than the solution's."""

import numpy as np
import torch


def by_numpy(plain, changed):
    gains = np.array([changed[seed] - plain[seed] for seed in sorted(plain.keys() & changed.keys())])
    verdict = int(np.sign(gains).sum() / len(gains)) if len(gains) > 4 else 0
    return float(gains.mean()), verdict


NONE_OF_ITS_OWN = "It is a mean of differences and a look at their signs."
CORRECT = [
    by_numpy,
    lambda plain, changed: list(by_numpy(plain, changed)),
    lambda plain, changed: [torch.tensor(number) for number in by_numpy(plain, changed)],
]


def inputs(draw):
    seeds = draw.sample(range(20), draw.randint(1, 9))
    low = draw.choice([-4, 1, -9])
    plain = {seed: 80 + draw.randint(-20, 20) / 2 for seed in seeds}
    changed = {seed: plain[seed] + draw.randint(low, low + 8) / 2 for seed in draw.sample(seeds, len(seeds))}
    if len(seeds) > 2 and draw.random() < 0.5:
        del plain[seeds[0]], changed[seeds[1]]
    return plain, changed
