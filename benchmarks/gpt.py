"""What each of four changes since 2017 gains a small GPT, beside a GRU of the same size.

    python benchmarks/gpt.py [--seeds 5]

Models of two layers learn the tales of `course_utils/data/tales.py` in 700 steps of 16 rows, two of them also in
2,100. The rows go to the table gpt.csv in
course_utils/data/measured_tables, which lesson 21 shows; what is in it already is not run again. With a seed, all setups see the same batches.

The table induction.csv is of attention alone, in one layer and in two, that learns what came after the same word last time, as the lesson's does.
"""

import argparse
import time

import torch

from course_utils.data.measured import fill
from course_utils.data.recall import recall_next
from course_utils.data.tales import CHARACTERS, tales
from course_utils.models import induction
from course_utils.models.gpt import GPT, MultiHeadAttention, Recurrent, bits, fit
from course_utils.models.induction import AttentionAlone, induction_scores

CHANGES = {
    "RMSNorm": {"norm": "rms"},
    "rotary positions": {"positions": "rotary"},
    "SwiGLU": {"gated": True},
    "grouped queries": {"groups": 2, "F": 216},  # what keys and values save goes to the feed-forward network
}
SETUPS = {"2017": {}, "all four": {name: value for change in CHANGES.values() for name, value in change.items()}}
for change, options in CHANGES.items():
    SETUPS[f"2017 + {change}"] = options
    SETUPS[f"all but {change}"] = {name: v for name, v in SETUPS["all four"].items() if name not in options}
SETUPS["GRU"] = None
LONGER = {f"{setup}, three times the steps": SETUPS[setup] for setup in ("2017", "GRU")}
SETUPS |= LONGER


def make(setup):
    """Return an untrained model of a setup."""
    if SETUPS[setup] is None:
        return Recurrent(len(CHARACTERS), hidden=110)
    return GPT(len(CHARACTERS), longest=64, **SETUPS[setup])


def measure(setup, seed):
    """Train one model; return its row."""
    rows, test = tales(6000, 1).ids, tales(400, 2).ids
    torch.manual_seed(seed)
    model, began = make(setup), time.process_time()
    fit(model, rows, seed, steps=2100 if setup in LONGER else 700)
    seconds = round(time.process_time() - began, 1)
    with torch.no_grad():
        needed = round(bits(model, test).item(), 4)
    return [(setup, seed, sum(p.numel() for p in model.parameters()), needed, seconds)]


def measure_induction(layers, seed):
    """Train one model of attention alone; return its row."""
    torch.manual_seed(seed)
    model, began = AttentionAlone(lambda D, H: MultiHeadAttention(D, H, H), layers), time.process_time()
    induction.fit(model, seed)
    seconds = round(time.process_time() - began, 1)
    words, answers = recall_next(500, 12, torch.Generator().manual_seed(10_000))
    at = (words[:, :-1] == words[:, -1:]).int().argmax(1)
    return [(layers, seed, *(round(score, 4) for score in induction_scores(model, words, answers, at)), seconds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    jobs = [(setup, seed) for seed in range(options.seeds) for setup in SETUPS]
    fill("gpt", ("setup", "seed", "parameters", "bits", "cpu_seconds"), jobs, measure)
    layers = [(layers, seed) for seed in range(options.seeds) for layers in (2, 1)]
    fill(
        "induction", ("layers", "seed", "right", "before", "match", "copying", "cpu_seconds"), layers, measure_induction
    )


if __name__ == "__main__":
    main()
