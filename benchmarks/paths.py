"""Recall over a distance by four kinds of layers: what does not reach the place cannot answer.

    python benchmarks/paths.py [--seeds 5]

All learn from three pairs, 0 to 32 places away (`course_utils/data/recall.py`), two of them also at 0 alone, and three also at twice
the rate of `fit` (`course_utils/models/sequence_layers.py`): no rate was tuned for a setup. Fills paths.csv, which lesson 09 draws.

Then self-attention and the LSTM learn from distances up to 0 and 32, and are tested at the longest one after 100, 500 and 2,000 steps. This
fills path_steps.csv: does a short path help to learn?
"""

import torch
from measuring import fill, jobs, read_options, timed
from torch import nn

from course_utils.data.recall import recall_at_distance
from course_utils.models.sequence_layers import (
    Answerer,
    Convolution,
    Recurrent,
    RestrictedSelfAttention,
    SelfAttention,
    fit,
)

COLUMNS = "setup seed distance answers_right cpu_seconds"
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
CURVES, AFTER = "setup furthest seed steps answers_right", (100, 500, 2000)
FASTER = {f"{setup}, rate 0.01": SETUPS[setup] for setup in ("self-attention", "LSTM", "restricted, radius 4")}
SETUPS |= FASTER


def measure(setup, seed):
    """Train one model; return a row for each distance."""
    torch.manual_seed(seed)
    model = Answerer(*SETUPS[setup](), width=WIDTH)
    rate, furthest = 1e-2 if setup in FASTER else 5e-3, 0 if setup in NEAR else max(DISTANCES)
    _, seconds = timed(fit, model, seed, STEPS, rate=rate, pairs=PAIRS, furthest=furthest)
    return [(distance, share_right(model, distance), seconds) for distance in DISTANCES]


def learn(setup, furthest, seed, after=AFTER):
    """Train a model anew for each number of steps; return its share right at the longest distance after each training."""
    rows = []
    for steps in after:
        torch.manual_seed(seed)
        model = Answerer(*SETUPS[setup](), width=WIDTH)
        fit(model, seed, steps, rate=0.01, pairs=PAIRS, furthest=furthest)
        rows.append((steps, share_right(model, furthest)))
    return rows


@torch.no_grad()
def share_right(model, distance):
    """Return the share of new questions that it answers at one distance."""
    tokens, answers = recall_at_distance(TESTED, PAIRS, distance, torch.Generator().manual_seed(10_000))
    return (model(tokens).argmax(-1) == answers).double().mean().item()


if __name__ == "__main__":
    seeds = read_options(__doc__, 5).seeds
    fill("paths", COLUMNS, jobs(SETUPS, seeds), measure)
    learned = [(setup, furthest) for setup in ("self-attention", "LSTM") for furthest in (0, 32)]
    fill("path_steps", CURVES, jobs(learned, seeds), learn)
