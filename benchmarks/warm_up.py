"""Whether a Transformer trains, with its norms in front or behind, with a warm-up and without.

    python benchmarks/warm_up.py [--seeds 0 1 2 3 4]

Trains Transformers of six layers on each side (`course_utils/models/residual.py`) in the small world, at a high rate. The rows go to the tables
warm_up.csv and first_steps.csv in course_utils/data/measured_tables, which lesson 12 shows; what is in them already is not run again.
About a minute a row of the first; up to half a minute for the steps of one model in the second, with three seeds.
"""

import argparse

import torch

from course_utils.data.measured import fill
from course_utils.data.small_world import small_world
from course_utils.models.assembled import share_right
from course_utils.models.residual import deep, first_steps
from course_utils.models.seq2seq import fit, make_batch

COLUMNS = ("norm", "warmup", "rate", "seed", "words_right")
LAYERS, STEPS = 6, 600
STEPS_COLUMNS, SHOWN = ("norm", "warmup", "seed", "step", "unlike", "gradient"), (1, 2, 3, 5, 10, 20, 50, 100, 200, 250)
SETUPS = [(norm, warmup, 3e-3) for norm in ("pre", "post") for warmup in (0, 200)] + [("post", 0, 1e-3)]

TAKEN = [("pre", 0), ("post", 0), ("post", 200)]  # whose first steps are shown


def measure(norm, warmup, rate, seed, steps=STEPS):
    """Train one model; return its row."""
    pairs, test = (small_world(number, of, order="verb-last") for number, of in ((20_000, 1), (300, 2)))
    model = deep(len(pairs.words), norm, LAYERS, seed)
    fit(model, *pairs.ids(), seed=seed, steps=steps, rate=rate, warmup=warmup)
    return [(norm, warmup, rate, seed, round(share_right(model.eval(), *make_batch(*test.ids())), 4))]


def steps_of(norm, warmup, seed, shown=SHOWN):
    """Train one model at the high rate, 50 steps or past its warm-up; return what is so before each step shown: how different words are, and the gradient."""
    shown = [step for step in shown if step <= warmup + 50]
    alike, gradients = first_steps(norm, warmup, steps=shown[-1], seed=seed)
    values = (1 - alike.double()).tolist(), gradients.tolist()
    return [(norm, warmup, seed, step, *(f"{value[step - 1]:.3g}" for value in values)) for step in shown]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=range(5), help="which seeds")
    options = parser.parse_args()
    torch.set_num_threads(1)
    fill("warm_up", COLUMNS, ((*setup, seed) for seed in options.seeds for setup in SETUPS), measure)
    jobs = [(norm, warmup, seed) for norm, warmup in TAKEN for seed in options.seeds if seed < 3]
    fill("first_steps", STEPS_COLUMNS, jobs, steps_of)


if __name__ == "__main__":
    main()
