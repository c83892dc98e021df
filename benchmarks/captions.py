"""How well a captioner names and points, with soft and hard attention, and what becomes of it without each part.

    python benchmarks/captions.py [--seeds 5]

Trains an encoder for each seed and a captioner for each setup, on 4,000 scenes (`course_utils/data/scenes.py`), and measures on 1,000
scenes with other handwritten digits, given the right words before each word. The rows go to the table captions.csv in
course_utils/data/measured_tables, which lesson 15 shows; what is in it already is not run again.
"""

import argparse
import time
from functools import cache

import torch

from course_utils.data.measured import fill
from course_utils.data.scenes import scenes
from course_utils.models.captions import Captioner, Encoder, fit, score

STEPS = 1200
COLUMNS = ("setup", "seed", "steps", "words", "captions", "pointing", "one_earlier", "on_thing", "cpu_seconds")


class Average(Captioner):
    """Looks at all places alike, whatever it has to say."""

    def attend(self, state, keys):
        return keys.new_full(keys.shape[:2], 1 / keys.shape[1])


SETUPS = {  # the class, what it is made with, what `fit` is told
    "soft": (Captioner, {}, {}),
    "penalty 0.01": (Captioner, {}, {"penalty": 0.01}),
    "penalty 1": (Captioner, {}, {"penalty": 1.0}),
    "no gate": (Captioner, {"gate": False}, {}),
    "no places": (Captioner, {}, {}),
    "average": (Average, {}, {}),
    "hard, half of the batches": (Captioner, {}, {"hard": 0.5}),
    "hard, all batches": (Captioner, {}, {"hard": 1.0}),
    "soft, read hard": (Captioner, {}, {}),
}


@cache
def annotated(seed, places):
    """Return training and test scenes, each with its annotations."""
    torch.manual_seed(seed)
    encoder, draw = Encoder(), torch.Generator().manual_seed(seed)
    encoder.fit(seed, steps=600)
    found = scenes(4000, draw), scenes(1000, torch.Generator().manual_seed(10_000), "test")
    return [(encoder(part.images, places), part) for part in found]


@cache
def trained(setup, seed):
    """Return a captioner and the CPU seconds of its training."""
    kind, made, told = SETUPS[setup]
    annotations, seen = annotated(seed, setup != "no places")[0]
    torch.manual_seed(seed)
    model, began = kind(**made), time.process_time()
    fit(model, annotations, seen, seed, STEPS, **told)
    return model, round(time.process_time() - began, 1)


def measure(setup, seed):
    """Train one captioner; return its row."""
    model, seconds = trained("soft" if setup == "soft, read hard" else setup, seed)
    annotations, seen = annotated(seed, setup != "no places")[1]
    found = score(model, annotations, seen, hard="hard" in setup)
    return [(setup, seed, STEPS, *(round(value, 4) for value in found), seconds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    fill("captions", COLUMNS, ((setup, seed) for seed in range(options.seeds) for setup in SETUPS), measure)


if __name__ == "__main__":
    main()
