"""What a mixture of experts forgets, whether its experts compete, and what experts do for a Transformer at equal work per token.

    python benchmarks/experts.py [--seeds 5]

The worlds are those of `course_utils/data/regimes.py`. The rows go to four tables in course_utils/data/measured_tables, which lesson 18
shows; what is in them already is not run again.

forgetting.csv    digits in white and black, 1,000 steps; then 300 steps with black ones only, whose labels have all moved on by one
balance.csv       eight linear experts for eight languages, one expert for each word, with a balance loss or with something else, 700 steps; twice as many seeds
lines.csv         three linear experts for numbers on three lines, competing or not, 1,000 steps; four times as many seeds
translators.csv   a layer of lesson 12's encoder with and without experts, 32 languages, 1,200 steps
"""

import argparse
import copy
import time

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.data.measured import fill
from course_utils.data.regimes import LANGUAGES, WORDS, dictionaries, on_lines, written
from course_utils.models.experts import ExpertsLayer, Mixture, Translator, accuracy, fit, fit_translator, mix, sent
from course_utils.models.train_model import train_model

BEST_TWO = {"k": 2, "noise": 2.0}
MIXTURES = {  # what a mixture is made with, how many answer once it is trained, whether the gate may change then
    "one network": ({"experts": 1, "hidden": 64}, None, False),
    "all four": ({}, None, False),
    "best two": (BEST_TWO, 2, False),
    "best one": (BEST_TWO, 1, False),
    "all four, gate free": ({}, None, True),
    "best two, gate free": (BEST_TWO, 2, True),
    "best one, gate free": (BEST_TWO, 1, True),
}
BALANCED = {  # what weighs the balance loss, what a layer is made with, what multiplies the gate's weights before training
    "balance loss": (0.1, {}, 1),
    "nothing": (0.0, {}, 1),
    "noise": (0.0, {"noise": 1.0}, 1),
    "offsets": (0.0, {"nudge": 0.01}, 1),
    "decided gate": (0.0, {}, 20),
}
TRANSLATORS = {  # what a translator is made with, what weighs the balance
    "no experts": ({}, 0.0),
    "8 times as wide": ({"hidden": 256}, 0.0),
    "8 experts": ({"experts": 8}, 0.01),
    "8 experts, no balance": ({"experts": 8}, 0.0),
    "8 experts, no balance, small gate": ({"experts": 8}, 0.0),
    "8 experts, capacity 1.5": ({"experts": 8, "capacity": 1.5}, 0.01),
    "8 experts, capacity 1": ({"experts": 8, "capacity": 1.0}, 0.01),
}


def trained(seed, balance, **made):
    """A mixture that has learned both kinds of digits."""
    kinds = [written(colour) for colour in ("white", "black")]
    x, digit = (torch.cat(parts) for parts in zip(*kinds, strict=True))
    torch.manual_seed(seed)
    model = Mixture(64, 10, **made)
    fit(model, x, digit, seed, 1000, rate=1e-2, compete=False, balance=balance)
    return model


def forgetting(setup, seed):
    """Train on both kinds of digits, then on new labels for black ones; return the row.

    Columns: what is right before, the share of black digits that reach an expert whose gates are larger for white ones, and what is right
    after training on the new labels by SGD and by Adam.
    """
    made, k, free = MIXTURES[setup]
    model, black = trained(seed, 0.1, **made), written("black")
    moved = (black.digit + 1) % 10
    model.k, model.noise = k, 0.0
    tests = [written(colour, "test") for colour in ("white", "black")]
    values = [accuracy(model, *test) for test in tests]
    with torch.no_grad():
        gates = [model(test.x).gates for test in tests]
    of_white = gates[0].mean(0) > gates[1].mean(0)
    values.append((gates[1][:, of_white] > 0).any(1).float().mean().item())
    for optimizer, rate in ((torch.optim.SGD, 0.5), (torch.optim.Adam, 1e-2)):
        later = copy.deepcopy(model)
        parts = None if free else later.experts
        fit(later, black.x, moved, seed, 300, rate=rate, compete=False, parts=parts, optimizer=optimizer)
        values += [accuracy(later, *tests[0]), accuracy(later, tests[1].x, (tests[1].digit + 1) % 10)]
    return [(setup, seed, 1300, *(round(value, 4) for value in values))]


def balance(setup, seed):
    """Train eight linear experts on eight languages; return the row: how many get work, what share the busiest has, what is right."""
    weight, made, times = BALANCED[setup]
    world = dictionaries(seed, 8)
    D = len(world.table) + WORDS
    torch.manual_seed(seed)
    layer = ExpertsLayer(D, [nn.Linear(D, D) for _ in range(8)], bias=True, **made)
    with torch.no_grad():
        layer.gate.weight *= times

    def answers(given):
        return layer(F.one_hot(given, D).sum(1, keepdim=True).float())[:, 0]

    def loss_of_batch(draw):
        given, wanted = world.batch(draw, length=1)
        return F.cross_entropy(answers(given), 8 + wanted[:, 0]) + weight * layer.balance

    train_model(layer, loss_of_batch, seed, 700, 0.015)
    given, wanted = world.batch(torch.Generator().manual_seed(10_000), 4000, length=1)
    layer.eval()
    with torch.no_grad():
        found = (answers(given).argmax(-1) == 8 + wanted[:, 0]).float().mean().item()
    shares = layer.chosen.bincount(minlength=8) / len(given)
    used = int((shares > 0.01).sum())
    return [(setup, seed, 700, used, *(round(value, 4) for value in (shares.max().item(), found)))]


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
    """Train a translator; return the row. Who is busy, and what is dropped, is counted in the last batch of training.

    The last two columns are the shares of the busiest expert in a language and for a word, means over languages and over words.
    """
    made, balance = TRANSLATORS[setup]
    world = dictionaries(seed)
    torch.manual_seed(seed)
    model, began = Translator(LANGUAGES, WORDS, **made), time.process_time()
    if setup.endswith("small gate"):
        with torch.no_grad():
            model.layer.feed_forward.gate.weight /= 20
    fit_translator(model, world.batch, seed, 1200, balance=balance)
    seconds, layer, experts = time.process_time() - began, model.layer.feed_forward, made.get("experts")
    given, wanted = world.batch(torch.Generator().manual_seed(10_000), 1000)
    numbers = [1.0, 1.0, 0.0, 1.0, 1.0]
    if experts:
        busy = torch.bincount(layer.chosen, minlength=experts) / len(layer.chosen)
        numbers[:3] = busy.max().item(), busy.min().item(), 1 - layer.kept.float().mean().item()
        shares = F.one_hot(sent(model.eval(), LANGUAGES, WORDS), experts).float()  # L W N
        numbers[3:] = (shares.mean(over).max(-1).values.mean().item() for over in (1, 0))
    with torch.no_grad():
        found = (model.eval()(given).argmax(-1) == wanted).float().mean().item()
    return [(setup, seed, 1200, *(round(value, 4) for value in (found, *numbers)), round(seconds, 1))]


TABLES = {
    "forgetting": (
        forgetting,
        MIXTURES,
        ("white", "black", "reached", "white_sgd", "black_sgd", "white_adam", "black_adam"),
    ),
    "balance": (balance, BALANCED, ("used", "busiest", "right")),
    "lines": (lines, ("compete", "work together"), ("error", "best_error", "largest_gate")),
    "translators": (
        translators,
        TRANSLATORS,
        ("right", "most_used", "least_used", "dropped", "by_language", "by_word", "cpu_seconds"),
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for table, (measure, setups, columns) in TABLES.items():
        seeds = options.seeds * {"balance": 2, "lines": 4}.get(table, 1)
        jobs = [(setup, seed) for seed in range(seeds) for setup in setups]
        fill(table, ("setup", "seed", "steps", *columns), jobs, measure)


if __name__ == "__main__":
    main()
