"""What a mixture of experts forgets, whether its experts compete, and what experts do for a Transformer at equal work per token.

    python benchmarks/experts.py [--seeds 5]

The worlds are those of `course_utils/data/regimes.py`. The rows go to three tables in course_utils/data/measured_tables, which lesson 18
shows; what is in them already is not run again.

forgetting.csv    digits in white and black, 1,000 steps; then 300 steps with black ones only, whose labels have all moved on by one
lines.csv         three linear experts for numbers on three lines, competing or not, 1,000 steps
translators.csv   a layer of lesson 12's encoder with and without experts, 32 languages, 1,200 steps
"""

import argparse
import time

import torch

from course_utils.data.measured import fill
from course_utils.data.regimes import LANGUAGES, WORDS, dictionaries, on_lines, written
from course_utils.models.experts import ExpertsLayer, Mixture, Translator, fit, fit_translator, mix, right

MIXTURES = {  # what a mixture is made with, what weighs the balance, whether the gate may change afterwards
    "one network": ({"experts": 1, "hidden": 64}, 0.0, True),
    "all four": ({}, 0.1, True),
    "all four, gate kept": ({}, 0.1, False),
    "best two": ({"k": 2, "noise": 1.0}, 0.1, True),
    "best two, gate kept": ({"k": 2, "noise": 1.0}, 0.1, False),
    "best one": ({"k": 1, "noise": 1.0}, 0.1, True),
}
TRANSLATORS = {  # what a translator is made with, what weighs the balance
    "no experts": ({}, 0.0),
    "8 times as wide": ({"hidden": 256}, 0.0),
    "8 experts": ({"experts": 8}, 0.01),
    "8 experts, no balance": ({"experts": 8}, 0.0),
    "8 experts, capacity 1.5": ({"experts": 8, "capacity": 1.5}, 0.01),
    "8 experts, capacity 1": ({"experts": 8, "capacity": 1.0}, 0.01),
}


def forgetting(setup, seed):
    """Train on both kinds of digits, then on new labels for one; return the row."""
    made, balance, free = MIXTURES[setup]
    white, black = written("white"), written("black")
    torch.manual_seed(seed)
    model = Mixture(64, 10, **made)
    fit(model, torch.cat([white.x, black.x]), torch.cat([white.digit, black.digit]), seed, 1000, rate=1e-2, balance=balance)
    tests = [written(colour, "test") for colour in ("white", "black")]
    before = [right(model, *test) for test in tests]
    with torch.no_grad():
        used = [model.eval()(test.x).gates.mean(0) for test in tests]
    model.train().noise = 0.0
    fit(model, black.x, (black.digit + 1) % 10, seed, 300, rate=1e-2, parts=None if free else model.experts)
    after = right(model, *tests[0]), right(model, tests[1].x, (tests[1].digit + 1) % 10)
    return [(setup, seed, 1300, *(round(value, 4) for value in (*before, *after, torch.minimum(*used).sum().item())))]


def lines(setup, seed):
    """Train three linear experts; return the row: the error of their sum, and that of the expert with the largest gate by itself."""
    points, unseen = (
        on_lines(1000, torch.Generator().manual_seed(seed)),
        on_lines(1000, torch.Generator().manual_seed(10_000)),
    )
    torch.manual_seed(seed)
    model = Mixture(1, 1, experts=3)
    fit(model, points.x, points.y, seed, 1000, rate=3e-2, compete=setup == "compete")
    with torch.no_grad():
        said = model(unseen.x)
    best = said.outputs[torch.arange(1000), said.gates.argmax(1)]
    errors = [(guess - unseen.y).square().mean().item() for guess in (mix(said.outputs, said.gates), best)]
    return [(setup, seed, 1000, *(round(value, 4) for value in (*errors, said.gates.max(1).values.mean().item())))]


def translators(setup, seed):
    """Train a translator; return the row."""
    made, balance = TRANSLATORS[setup]
    world = dictionaries(seed)
    torch.manual_seed(seed)
    model, began = Translator(LANGUAGES, WORDS, **made), time.process_time()
    fit_translator(model, world.batch, seed, 1200, balance=balance)
    seconds, sent = time.process_time() - began, model.layer.feed_forward
    dropped = 1 - sent.kept.float().mean().item() if isinstance(sent, ExpertsLayer) else 0.0
    given, wanted = world.batch(torch.Generator().manual_seed(10_000), 1000)
    with torch.no_grad():
        found = (model.eval()(given).argmax(-1) == wanted).float().mean().item()
    shares = (
        torch.bincount(sent.chosen, minlength=8) / len(sent.chosen) if isinstance(sent, ExpertsLayer) else torch.ones(1)
    )
    numbers = found, shares.max().item(), shares.min().item(), dropped
    return [(setup, seed, 1200, *(round(value, 4) for value in numbers), round(seconds, 1))]


TABLES = {
    "forgetting": (forgetting, MIXTURES, ("white", "black", "white_after", "black_after", "overlap")),
    "lines": (lines, ("compete", "work together"), ("error", "best_error", "largest_gate")),
    "translators": (translators, TRANSLATORS, ("right", "most_used", "least_used", "dropped", "cpu_seconds")),
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
