"""How much a model learns from a few examples, with and without each of its halves: characters and waves.

    python benchmarks/snail.py [--seeds 5]

The worlds are those of `course_utils/data/episodes.py`. The rows go to two tables in course_utils/data/measured_tables, which lesson 19
shows; what is in them already is not run again.

characters.csv  right labels, by how often each class was shown before: of held-out digits, and of new episodes as in training; 1,500 steps
waves.csv       squared error of heights, by how many points were shown before; 1,500 steps
"""

import argparse
import time

import torch

from course_utils.data.episodes import WAYS, character_episodes, wave_episodes
from course_utils.data.measured import fill
from course_utils.models.snail import (
    SETUPS,
    by_examples,
    fit_characters,
    fit_waves,
    made,
    predict_labels,
)

STEPS = 26  # of an episode of characters
CHARACTERS = {  # the kind of characters in training, and what a model is made of
    **{setup: ("joined", setup) for setup in SETUPS},
    "five classes": ("upright", "SNAIL"),
    "forty classes": ("turned", "SNAIL"),
}
WAVES = [setup for setup in SETUPS if "dilation" not in setup]


def drawn(seed):
    return torch.Generator().manual_seed(seed)


def characters(setup, seed):
    """Train on one kind of characters; return a row for each number of examples."""
    kind, blocks = CHARACTERS[setup]
    torch.manual_seed(seed)
    (model, reads), began = made(blocks, 64, WAYS, STEPS), time.process_time()
    fit_characters(model, kind, seed, read=reads)
    seconds = round(time.process_time() - began, 1)
    unseen = [character_episodes(1000, of, drawn(10_000)) for of in ("held out", kind)]
    held_out, own = (by_examples(predict_labels(model, episodes, reads), episodes) for episodes in unseen)
    return [(setup, seed, 1500, k + 1, round(held_out[k], 4), round(own[k], 4), seconds) for k in range(5)]


def waves(setup, seed):
    """Train on waves; return a row for each number of points that were shown before."""
    torch.manual_seed(seed)
    (model, reads), began = made(setup, 1, 1, 11), time.process_time()
    fit_waves(model, seed, read=reads)
    seconds = round(time.process_time() - began, 1)
    x, y = (values[..., None] for values in wave_episodes(2000, drawn(10_000)))
    with torch.no_grad():
        errors = (model(reads(x, y)) - y).square().mean((0, 2)).tolist()
    return [(setup, seed, 1500, k, round(error, 4), seconds) for k, error in enumerate(errors)]


TABLES = {
    "characters": (characters, CHARACTERS, ("examples", "held_out", "own", "cpu_seconds")),
    "waves": (waves, WAVES, ("points", "error", "cpu_seconds")),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for table, (measure, setups, columns) in TABLES.items():
        jobs = [(setup, seed) for seed in range(options.seeds) for setup in setups]
        fill(table, ("setup", "seed", "steps", *columns), jobs, measure)


if __name__ == "__main__":
    main()
