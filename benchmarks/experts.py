"""Whether experts compete, how many of them get work, and what experts do for a Transformer at equal work per token.

    python benchmarks/experts.py [--seeds 5]

The worlds are those of `course_utils/data/regimes.py`. Fills three tables, which lesson 18 shows:

balance.csv       eight linear experts for eight languages, one expert for each word, with a balance loss or with something else, 700 steps; twice as many seeds
lines.csv         three linear experts for numbers on three lines, competing or not, 1,000 steps; four times as many seeds
translators.csv   a layer of lesson 12's encoder with and without experts, 32 languages, 1,200 steps
"""

import torch
import torch.nn.functional as F
from measuring import fill, jobs, read_options, timed
from torch import nn

from course_utils.data.regimes import LANGUAGES, WORDS, dictionaries, on_lines
from course_utils.models.experts import ExpertsLayer, Mixture, Translator, fit, fit_translator, mix, sent
from course_utils.models.train_model import train_model

BALANCED = {  # what weighs the balance loss, what a layer is made with
    "balance loss": (0.1, {}),
    "nothing": (0.0, {}),
    "noise": (0.0, {"noise": 1.0}),
    "offsets": (0.0, {"nudge": 0.01}),
    "fixed gate": (0.0, {}),
    "norm": (0.0, {}),
    "6 in place of 1": (0.0, {}),
}
TRANSLATORS = {  # what a translator is made with, what weighs the balance
    "no experts": ({}, 0.0),
    "8 times as wide": ({"hidden": 256}, 0.0),
    "8 experts": ({"experts": 8}, 0.01),
    "8 experts, no balance": ({"experts": 8}, 0.0),
    "8 experts, k = 2": ({"experts": 8, "k": 2}, 0.01),
    "8 experts, capacity 1": ({"experts": 8, "capacity": 1.0}, 0.01),
}


def balance(setup, seed):
    """Train eight linear experts on eight languages; return the row: how many get work, what share the busiest has, what is right."""
    weight, made = BALANCED[setup]
    world = dictionaries(seed, 8)
    D = len(world.table) + WORDS
    torch.manual_seed(seed)
    layer = ExpertsLayer(D, [nn.Linear(D, D) for _ in range(8)], bias=True, **made)
    layer.gate.requires_grad_(setup != "fixed gate")

    def answers(given):
        tokens = F.one_hot(given, D).sum(1, keepdim=True).float()  # B 1 D
        if setup == "norm":
            tokens = F.layer_norm(tokens, (D,))
        elif setup == "6 in place of 1":
            tokens = 6 * tokens
        return layer(tokens)[:, 0]

    def loss_of_batch(draw):
        given, wanted = world.batch(draw, length=1)
        return F.cross_entropy(answers(given), 8 + wanted[:, 0]) + weight * layer.balance

    train_model(layer, loss_of_batch, seed, 700, 0.015)
    given, wanted = world.batch(torch.Generator().manual_seed(10_000), 4000, length=1)
    layer.eval()
    with torch.no_grad():
        found = (answers(given).argmax(-1) == 8 + wanted[:, 0]).float().mean().item()
    shares = layer.chosen[:, 0].bincount(minlength=8) / len(given)
    return [(700, int((shares > 0.01).sum()), shares.max().item(), found)]


def lines(setup, seed):
    """Train three linear experts; return the row: the error of their sum, and that of the expert with the largest gate by itself."""
    points, unseen = (on_lines(1000, torch.Generator().manual_seed(drawn)) for drawn in (seed, 10_000))
    torch.manual_seed(seed)
    model = Mixture(1, 1, experts=3)
    fit(model, points.x, points.y, seed, 1000, rate=3e-2, compete=setup == "compete")
    with torch.no_grad():
        said = model(unseen.x)
    best = said.outputs[torch.arange(1000), said.gates.argmax(1)]
    errors = [(guess - unseen.y).square().mean().item() for guess in (mix(said.outputs, said.gates), best)]
    return [(1000, *errors, said.gates.max(1).values.mean().item())]


def translators(setup, seed):
    """Train a translator; return the row. Who is busy, and what is dropped, is counted in the last batch of training.

    The last two columns are the shares of the busiest expert in a language and for a word, means over languages and over words.
    """
    made, balance = TRANSLATORS[setup]
    world = dictionaries(seed)
    torch.manual_seed(seed)
    model = Translator(LANGUAGES, WORDS, **made)
    _, seconds = timed(fit_translator, model, world.batch, seed, 1200, balance=balance)
    layer, experts = model.layer.feed_forward, made.get("experts")
    given, wanted = world.batch(torch.Generator().manual_seed(10_000), 1000)
    numbers = [1.0, 1.0, 0.0, 1.0, 1.0]
    if experts:
        busy = torch.bincount(layer.chosen.flatten(), minlength=experts) / layer.chosen.numel()
        numbers[:3] = busy.max().item(), busy.min().item(), 1 - layer.kept.float().mean().item()
        shares = F.one_hot(sent(model.eval(), LANGUAGES, WORDS), experts).float()  # L W N
        numbers[3:] = (shares.mean(over).max(-1).values.mean().item() for over in (1, 0))
    with torch.no_grad():
        found = (model.eval()(given).argmax(-1) == wanted).float().mean().item()
    return [(1200, found, *numbers, seconds)]


TABLES = {  # what measures it, its setups, how many times as many seeds it has, its columns after the steps
    "balance": (balance, BALANCED, 2, "used busiest right"),
    "lines": (lines, ("compete", "work together"), 4, "error best_error largest_gate"),
    "translators": (
        translators,
        TRANSLATORS,
        1,
        "right most_used least_used dropped by_language by_word cpu_seconds",
    ),  # fmt: skip
}


if __name__ == "__main__":
    seeds = len(read_options(__doc__, 5).seeds)
    for table, (measure, setups, times, columns) in TABLES.items():
        fill(table, f"setup seed steps {columns}", jobs(setups, range(seeds * times)), measure)
