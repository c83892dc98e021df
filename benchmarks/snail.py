"""How much a model learns from a few examples, with and without each of its halves, in the world of characters.

    python benchmarks/snail.py [--seeds 5]

The world is that of `course_utils/data/episodes.py`. The rows go to the table characters.csv in course_utils/data/measured_tables, which
lesson 19 shows: right labels, by how often each class was shown before, of held-out digits and of new episodes as in training, after 1,500
steps. What is in it already is not run again.
"""

import argparse
import time

import torch

from course_utils.data.episodes import WAYS, character_episodes, in_any_light
from course_utils.data.measured import fill
from course_utils.models.snail import (
    SETUPS,
    by_examples,
    fit_characters,
    made,
    predict_labels,
)

COLUMNS = ("setup", "seed", "steps", "examples", "held_out", "own", "cpu_seconds")
STEPS = 26  # of an episode of characters
CHARACTERS = {  # the kind of characters in training, and what a model is made of
    **{setup: ("joined", setup) for setup in SETUPS},
    "five classes": ("upright", "SNAIL"),
    "forty classes": ("turned", "SNAIL"),
    "any light": ("joined", "SNAIL"),  # each picture is read brighter or darker
}


def drawn(seed):
    return torch.Generator().manual_seed(seed)


def characters(setup, seed):
    """Train on one kind of characters; return a row for each number of examples."""
    kind, blocks = CHARACTERS[setup]
    torch.manual_seed(seed)
    (model, reads), began, light = made(blocks, 64, WAYS, STEPS), time.process_time(), drawn(seed)
    lit = setup == "any light"
    fit_characters(model, kind, seed, read=(lambda x, y: reads(in_any_light(x, light), y)) if lit else reads)
    seconds = round(time.process_time() - began, 1)
    unseen = [character_episodes(1000, of, drawn(10_000)) for of in ("held out", kind)]
    if lit:
        unseen = [episodes._replace(pictures=in_any_light(episodes.pictures, drawn(1))) for episodes in unseen]
    held_out, own = (by_examples(predict_labels(model, episodes, reads), episodes) for episodes in unseen)
    return [(setup, seed, 1500, k + 1, round(held_out[k], 4), round(own[k], 4), seconds) for k in range(5)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    jobs = [(setup, seed) for seed in range(options.seeds) for setup in CHARACTERS]
    fill("characters", COLUMNS, jobs, characters)


if __name__ == "__main__":
    main()
