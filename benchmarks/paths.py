"""Recall over a distance by four kinds of layers: what does not reach the place cannot answer.

    python benchmarks/paths.py [--seeds 5]

Trains each setup once for each seed on three pairs, 0 to 32 places away (`course_utils/data/recall.py`), two of them also at 0 alone, and three also at twice
the rate of `fit` (`course_utils/models/layers.py`): no rate was tuned for a setup. The rows go to the table paths.csv in course_utils/data/measured_tables, which
lesson 09 draws; what is in it already is not run again.
"""

import argparse
import time

import torch
from torch import nn

from course_utils.data.measured import fill
from course_utils.data.recall import recall_at_distance
from course_utils.models.layers import (
    Answerer,
    Convolution,
    Recurrent,
    RestrictedSelfAttention,
    SelfAttention,
    fit,
)

COLUMNS = ("setup", "seed", "distance", "answers_right", "cpu_seconds")
WIDTH, PAIRS, DISTANCES, TESTED, STEPS = 32, 3, (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32), 500, 2500
NEAR = "tanh cell, trained at distance 0", "LSTM, trained at distance 0"
SETUPS = {
    "self-attention": lambda: [SelfAttention(WIDTH)],
    "LSTM": lambda: [Recurrent(WIDTH, nn.LSTM)],
    "tanh cell": lambda: [Recurrent(WIDTH)],
    NEAR[0]: lambda: [Recurrent(WIDTH)],
    NEAR[1]: lambda: [Recurrent(WIDTH, nn.LSTM)],
    "restricted, radius 4": lambda: [RestrictedSelfAttention(WIDTH, 4)],
    "two restricted, radius 4": lambda: [RestrictedSelfAttention(WIDTH, 4), RestrictedSelfAttention(WIDTH, 4)],
    "convolution, kernel 9": lambda: [Convolution(WIDTH, 9)],
    "two convolutions, dilated": lambda: [Convolution(WIDTH, 9), Convolution(WIDTH, 9, dilation=4)],
}
FASTER = {
    f"{setup}, rate 0.01": make
    for setup, make in SETUPS.items()
    if setup in ("self-attention", "restricted, radius 4", "LSTM")
}
SETUPS |= FASTER


def make(setup, seed):
    """Return a new model."""
    torch.manual_seed(seed)
    return Answerer(*SETUPS[setup](), width=WIDTH)


def measure(setup, seed):
    """Train one model; return its rows."""
    model = make(setup, seed)
    began = time.process_time()
    rate, furthest = 1e-2 if setup in FASTER else 5e-3, 0 if setup in NEAR else max(DISTANCES)
    fit(model, seed, STEPS, rate=rate, pairs=PAIRS, furthest=furthest)
    seconds = round(time.process_time() - began, 1)
    rows = []
    for distance in DISTANCES:
        tokens, answers = recall_at_distance(TESTED, PAIRS, distance, torch.Generator().manual_seed(10_000))
        with torch.no_grad():
            right = (model(tokens).argmax(-1) == answers).double().mean().item()
        rows.append((setup, seed, distance, round(right, 4), seconds))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    jobs = ((setup, seed) for seed in range(options.seeds) for setup in SETUPS)
    fill("paths", COLUMNS, jobs, measure)


if __name__ == "__main__":
    main()
