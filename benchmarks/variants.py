"""What five attentions get right in two worlds, also with one part taken out, with another score of several strengths, and with two changes, and how long softmax and chunks take.

    python benchmarks/variants.py [--seeds 5]

The worlds are those of `course_utils/data/lookups.py`. The rows go to two tables in course_utils/data/measured_tables, the first of which
lesson 20 shows; what is in them already is not run again.

variants.csv  shares of right answers after 600 steps of 32 sequences of 32 steps, for sequences as long, twice and four times as long
cost.csv      CPU milliseconds for one sequence with 4 heads of width 16, forward only, by its length: the median of three; the runs alternate
"""

import argparse
import time
from functools import partial
from statistics import median

import torch
import torch.nn.functional as F

from course_utils.data.measured import fill
from course_utils.models.attention import causal_mask
from course_utils.models.compared import LENGTHS, WORLDS
from course_utils.models.variants import (
    VARIANTS,
    accuracy,
    alibi,
    delta,
    dot_product,
    fit,
    linear,
    linear_in_chunks,
    near,
    reader,
    sparsemax,
    unit,
)

WAYS = {
    "softmax": lambda query, key, value: dot_product(query, key, value, causal_mask(query.shape[2])),
    "softmax, PyTorch's own": lambda query, key, value: F.scaled_dot_product_attention(
        query, key, value, is_causal=True
    ),
    "linear, in chunks": linear_in_chunks,
}


def not_negative(query, key, value, mask):
    """Linear attention without φ and the division, in which negative weights count as 0; a fixed memory could not do this."""
    weights = (query @ key.mT).clamp(min=0).masked_fill(~mask, 0.0)
    return weights @ value, weights


WITHOUT = {
    "ALiBi with the first slope only": partial(alibi, own=torch.full((4,), 2.0**-2)),
    "ALiBi with the last slope only": partial(alibi, own=torch.full((4,), 2.0**-8)),
    "linear without φ": partial(linear, phi=lambda x: x),
    "linear without the division": partial(linear, divide=False),
    "linear without both": partial(linear, phi=lambda x: x, divide=False),
    "linear without both, negative weights as 0": not_negative,
    "delta rule without the reading": partial(linear, phi=unit, divide=False),
    "delta rule with β = 0.5": partial(delta, beta=0.5),
}
TWO_CHANGES = {"softmax, near first": near, "sparsemax, near first": partial(near, normalise=sparsemax)}
STRENGTHS = {
    f"{name}, strength {strength}": partial(one, strength=strength)
    for strength in (0.1, 1, 3)
    for name, one in TWO_CHANGES.items()
}
FEWER = [*WITHOUT, *STRENGTHS]  # with three seeds
ALL = VARIANTS | WITHOUT | TWO_CHANGES | STRENGTHS


def answers(variant, world, seed):
    """Train in one world; return a row for each length."""
    torch.manual_seed(seed)
    model, began = reader(ALL[variant]), time.process_time()
    fit(model, world, seed)
    seconds = round(time.process_time() - began, 1)
    return [(variant, world, seed, 600, n, round(accuracy(model, world, n), 4), seconds) for n in LENGTHS]


@torch.no_grad()
def cost(way, length, seed):
    """Time one sequence three times; return a row with the median."""
    query, key, value = torch.randn(3, 1, 4, length, 16, generator=torch.Generator().manual_seed(seed))
    times = []
    for _ in range(3):
        began = time.process_time()
        WAYS[way](query, key, value)
        times.append(1000 * (time.process_time() - began))
    return [(way, length, seed, round(median(times), 2))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    torch.set_num_threads(1)
    jobs = [(way, length, seed) for seed in seeds for length in (256, 1024, 4096) for way in WAYS]
    fill("cost", ("way", "length", "seed", "milliseconds"), jobs, cost)
    jobs = [
        (variant, world, seed)
        for seed in seeds
        for world in WORLDS
        for variant in ALL
        if seed < 3 or variant not in FEWER
    ]
    fill("variants", ("variant", "world", "seed", "steps", "length", "right", "cpu_seconds"), jobs, answers)


if __name__ == "__main__":
    main()
