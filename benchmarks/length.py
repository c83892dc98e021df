"""Translation through one vector, in the small generated world: what gets through, against length and distance.

    python benchmarks/length.py [--seeds 5]

Trains the model of lesson 05 once for each setup and seed. The rows go to the tables in course_utils/data/measured_tables, which the
lesson draws; what is in them already is not run again.

    length.csv      the share of right words and of right sentences, for sentences of each length
    distance.csv    how far the sentence vector moves with a word, against the words that come behind it, before and after training
"""

import argparse
import time

import torch

from course_utils.data.measured import append, known
from course_utils.data.small_world import small_world
from course_utils.models.seq2seq import Seq2Seq, fit, influence_on_vector
from course_utils.translation.scores import exact_shares
from course_utils.translation.translate import translate

COLUMNS = {
    "length": ("order", "setup", "seed", "length", "words_right", "sentences_right", "cpu_seconds"),
    "distance": ("cell", "trained", "seed", "distance", "gradient"),
}
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
DISTANCES = {"as it is": "gru", "tanh cells": "tanh"}


def measure(order, setup, seed):
    """Train one model; return its rows for each table."""
    reading, arguments, steps = SETUPS[setup]
    learn = small_world(PAIRS, 1000 + seed, order, reading)
    torch.manual_seed(seed)
    model = Seq2Seq(len(learn.words), **arguments)
    rows = {table: [] for table in COLUMNS}
    if setup in DISTANCES and order == "monotone":
        rows["distance"] += gradients(model, DISTANCES[setup], "no", seed)
    began = time.process_time()
    fit(model, *learn.ids(), seed, steps)
    seconds = round(time.process_time() - began, 1)
    for length in LENGTHS:
        test = small_world(TESTED, 7, order, reading, length, length)
        found = translate(model, test.words, test.sources, width=1)
        sentences, words = exact_shares(found, test.targets)
        rows["length"].append((order, setup, seed, length, round(words, 4), round(sentences, 4), seconds))
    if setup in DISTANCES and order == "monotone":
        rows["distance"] += gradients(model, DISTANCES[setup], "yes", seed)
    return rows


def gradients(model, cell, trained, seed):
    test = small_world(TESTED, 7, shortest=12, longest=12)
    by_distance = influence_on_vector(model, test.ids()[0]).tolist()
    return [(cell, trained, seed, distance, f"{value:.6g}") for distance, value in enumerate(by_distance)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for table, columns in COLUMNS.items():
        known(table, columns, "seed")  # a table that is not there yet begins
    done = known("length", COLUMNS["length"], "order", "setup", "seed")
    for seed in range(options.seeds):
        for order in ("monotone", "reversed"):
            for setup in SETUPS if order == "monotone" else IN_BOTH_ORDERS:
                if (order, setup, str(seed)) not in done:
                    rows = measure(order, setup, seed)
                    for table, new in rows.items():
                        append(table, new)
                    told = {row[3]: row[4] for row in rows["length"]}
                    print(f"{order}, {setup}, seed {seed}: {rows['length'][0][-1]} s, {told}", flush=True)


if __name__ == "__main__":
    main()
