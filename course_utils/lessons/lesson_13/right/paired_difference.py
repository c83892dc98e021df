"""Right answers to 13.paired_difference in other styles than the solution's: sets, tensors, NumPy, a loop with counters."""

import numpy as np
import torch


def by_sets(plain, changed):
    seeds = set(plain) & set(changed)
    gains = [changed[seed] - plain[seed] for seed in seeds]
    signs = {(gain > 0) - (gain < 0) for gain in gains}
    rare = 2 * 0.5 ** len(gains) <= 1 / 16
    return sum(gains) / len(gains), signs.pop() if rare and len(signs) == 1 else 0


def by_tensors(plain, changed):
    seeds = [seed for seed in plain if seed in changed]
    before, after = (
        torch.tensor([float(runs[seed]) for seed in seeds], dtype=torch.float64) for runs in (plain, changed)
    )
    gains = after - before
    same = (gains > 0).all() or (gains < 0).all()
    return gains.mean().item(), int(gains.sign()[0]) if same and len(seeds) >= 5 else 0


def by_numpy(plain, changed):
    gains = np.array([changed[seed] - plain[seed] for seed in sorted(plain.keys() & changed.keys())])
    verdict = int(np.sign(gains).sum() / len(gains)) if len(gains) > 4 else 0
    return float(gains.mean()), verdict


def as_beginners_write(plain, changed):
    total, better, worse, n = 0, 0, 0, 0
    for seed in changed:
        if seed in plain:
            difference = changed[seed] - plain[seed]
            total = total + difference
            n = n + 1
            if difference > 0:
                better = better + 1
            if difference < 0:
                worse = worse + 1
    if n >= 5 and better == n:
        return total / n, 1
    if n >= 5 and worse == n:
        return total / n, -1
    return total / n, 0


NONE_OF_ITS_OWN = "It is a mean of differences and a look at their signs."
RIGHT = [by_sets, by_tensors, by_numpy, as_beginners_write]


def inputs(draw):
    seeds = draw.sample(range(20), draw.randint(1, 9))
    low = draw.choice([-4, 1, -9])
    plain = {seed: 80 + draw.randint(-20, 20) / 2 for seed in seeds}
    changed = {seed: plain[seed] + draw.randint(low, low + 8) / 2 for seed in draw.sample(seeds, len(seeds))}
    if len(seeds) > 2 and draw.random() < 0.5:
        del plain[seeds[0]], changed[seeds[1]]
    return plain, changed
