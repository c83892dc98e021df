"""Translation through one vector, in the small generated world: what gets through, against the length of a sentence.

    python benchmarks/length.py [--seeds 5]

Trains the model of lesson 05 once for each setup and seed. The rows go to course_utils/data/measured_tables/length.csv, which the lesson draws:
the share of right words and of right sentences, for sentences of each length. What is in it already is not run again.
"""

import argparse
import time

import torch

from course_utils.data.measured import append, known
from course_utils.data.small_world import small_world
from course_utils.models.seq2seq import Seq2Seq, fit
from course_utils.translation.scores import exact_shares
from course_utils.translation.translate import translate

COLUMNS = ("order", "setup", "seed", "length", "words_right", "sentences_right", "cpu_seconds")
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
PAIRS, TESTED = 20_000, 200
SETUPS = {  # name -> how the source is read, the model's arguments, training steps
    "as it is": ("as it is", {}, 600),
    "reversed": ("reversed", {}, 600),
    "twice": ("twice", {}, 600),
    "tanh cells": ("as it is", {"cell": "tanh"}, 600),
    "32 numbers": ("as it is", {"hidden": 32}, 600),
    "128 numbers": ("as it is", {"hidden": 128}, 600),
    "four times as long": ("as it is", {}, 2400),
    "128 numbers, four times as long": ("as it is", {"hidden": 128}, 2400),
}
IN_BOTH_ORDERS = ("as it is", "reversed", "twice")


def measure(order, setup, seed):
    """Train one model; return its rows."""
    reading, arguments, steps = SETUPS[setup]
    learn = small_world(PAIRS, 1000 + seed, order, reading)
    torch.manual_seed(seed)
    model = Seq2Seq(len(learn.words), **arguments)
    rows = []
    began = time.process_time()
    fit(model, *learn.ids(), seed, steps)
    seconds = round(time.process_time() - began, 1)
    for length in LENGTHS:
        test = small_world(TESTED, 7, order, reading, length, length)
        found = translate(model, test.words, test.sources, width=1)
        sentences, words = exact_shares(found, test.targets)
        rows.append((order, setup, seed, length, round(words, 4), round(sentences, 4), seconds))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    done = known("length", COLUMNS, "order", "setup", "seed")
    for seed in range(options.seeds):
        for order in ("monotone", "reversed"):
            for setup in SETUPS if order == "monotone" else IN_BOTH_ORDERS:
                if (order, setup, str(seed)) not in done:
                    rows = measure(order, setup, seed)
                    append("length", rows)
                    print(
                        f"{order}, {setup}, seed {seed}: {rows[0][-1]} s, { ({row[3]: row[4] for row in rows}) }",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
