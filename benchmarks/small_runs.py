"""What lesson 13's small models reach with other seeds: four optimizers at the best of three learning rates, and 300 pairs with and without regularisation.

    python benchmarks/small_runs.py [--only optimizers few] [--seeds 0 1 2 3 4]

Fills two tables with the code on the lesson's page, a few seconds of one core a row:

optimizers.csv      "optimizers": share of words right after 100 steps on the validation set, which chooses the rate, and on the test set
few_pairs.csv       "few": the step of the lowest validation loss, this loss, the last one, and the share of test words right
"""

import torch
from measuring import fill, jobs, page, read_options

from course_utils.data.small_world import small_world

RATES = {  # tried with seed 0
    "SGD": (0.5, 1.0, 2.0),
    "SGD with momentum": (0.1, 0.2, 0.4),
    "Adam, β₁ = 0": (0.005, 0.01, 0.02),
    "Adam": (0.005, 0.01, 0.02),
}
BEST = {"SGD": 1.0, "SGD with momentum": 0.2, "Adam, β₁ = 0": 0.01, "Adam": 0.01}  # on the validation set


def lesson():
    """Return what the page of lesson 13 defines, with its pairs."""
    pairs, others = (
        small_world(number, seed=seed, order="verb-last", longest=6) for number, seed in ((20_000, 1), (600, 2))
    )
    sources, targets = pairs.ids()
    found = page("13_training", pairs=pairs, sources=sources, targets=targets)
    read = set(pairs.sources)
    unread = [i for i, text in enumerate(others.sources) if text not in read]
    known = found.hundred_steps.__globals__  # what the page's functions know
    known["other_sources"], known["other_targets"] = others.ids()
    known["unread"] = unread
    known["validation"], known["test"] = (found.batch_of(*others.ids(), rows) for rows in (unread[:142], unread[142:]))
    return found, known["validation"], known["test"]


def optimizers(page, validation, test):
    """Return a function that trains with an optimizer at a rate and returns its row."""
    makers = dict(zip(RATES, (torch.optim.SGD, page.momentum, page.adam_without_mean, torch.optim.Adam), strict=True))

    def measure(name, rate, seed):
        model = page.hundred_steps(makers[name], rate, seed)
        return [[page.share_right(model, *batch) for batch in (validation, test)]]

    return measure


def few(page, validation, test):
    """Return a function that trains on 300 pairs and returns its row."""

    def measure(setup, seed):
        amount = 0.1 * (setup == "both")  # of dropout, and of weight decay
        model, each_step, losses = page.train_on_few(amount, amount, seed)
        lowest = min(losses)
        step = len(each_step) // len(losses) * (losses.index(lowest) + 1)
        return [(step, lowest, losses[-1], page.share_right(model, *test))]

    return measure


if __name__ == "__main__":
    parts = ("optimizers", "few")
    options = read_options(
        __doc__, [0, 1, 2, 3, 4], only={"nargs": "+", "choices": parts, "default": parts, "help": "parts"}
    )
    known = lesson()
    if "optimizers" in options.only:
        setups = [(name, rate, 0) for name, rates in RATES.items() for rate in rates]
        setups += jobs(BEST.items(), options.seeds)  # what is there already is not measured again
        fill("optimizers", "optimizer rate seed validation test", setups, optimizers(*known))
    if "few" in options.only:
        fill(
            "few_pairs", "setup seed lowest_at lowest last right", jobs(("neither", "both"), options.seeds), few(*known)
        )
