"""Translation through one vector, in the small generated world: what gets through, against the length of a sentence.

    python benchmarks/length.py [--seeds 5]

Trains the model of lesson 05. Fills length.csv, which the lesson draws: the share of right words and sentences, by length.
"""

import torch
from measuring import fill, jobs, read_options, timed

from course_utils.data.small_world import small_world
from course_utils.models.seq2seq import Seq2Seq, fit
from course_utils.translation.scores import exact_shares
from course_utils.translation.translate import translate

COLUMNS = "order setup seed length words_right sentences_right cpu_seconds"
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
PAIRS, TESTED = 20_000, 200
SETUPS = {  # how the source is read, the model's arguments, training steps, and the rate where it is not 0.01
    "as it is": ("as it is", {}, 600),
    "reversed": ("reversed", {}, 600),
    "twice": ("twice", {}, 600),
    "tanh cells": ("as it is", {"cell": "tanh"}, 600),
    "tanh cells, rate 0.003": ("as it is", {"cell": "tanh"}, 600, 3e-3),
    "32 numbers": ("as it is", {"hidden": 32}, 600),
    "128 numbers": ("as it is", {"hidden": 128}, 600),
    "four times as long": ("as it is", {}, 2400),
    "128 numbers, four times as long": ("as it is", {"hidden": 128}, 2400),
}
SHOWN = [("monotone", setup) for setup in SETUPS]
SHOWN += [("reversed", setup) for setup in ("as it is", "reversed", "twice")]


def measure(order, setup, seed):
    """Train one model; return a row for each length."""
    reading, arguments, steps, *rate = SETUPS[setup]
    learn = small_world(PAIRS, 1000 + seed, order, reading)
    torch.manual_seed(seed)
    model = Seq2Seq(len(learn.words), **arguments)
    _, seconds = timed(fit, model, *learn.ids(), seed, steps, 64, *rate)
    rows = []
    for length in LENGTHS:
        test = small_world(TESTED, 7, order, reading, length, length)
        sentences, words = exact_shares(translate(model, test.words, test.sources, width=1), test.targets)
        rows.append((length, words, sentences, seconds))
    return rows


if __name__ == "__main__":
    fill("length", COLUMNS, jobs(SHOWN, read_options(__doc__, 5).seeds), measure)
