"""How many heads, and how wide a hidden layer, it takes to answer for two and for three facts at once.

    python benchmarks/facts.py [--seeds 3]

Reads the questions, the models and their training from lesson 10's page, so that the table is about no others. Fills facts.csv, which the lesson shows, in ten to thirty
seconds a row. The columns of swapped weights are for two facts with one head: the share of digits that are still right if the weights of
the two pairs are exchanged, and the share of answers that are the other letter's digit.
"""

import math

import torch
from measuring import fill, jobs, page, read_options, timed

COLUMNS = "facts heads units steps seed rate right swapped_right swapped_other cpu_seconds"
SETUPS = [(2, 1, units, 2000) for units in (0, 32, 128)]  # 0 units: no hidden layer
SETUPS += [(3, heads, units, steps) for steps in (1000, 4000) for units in (32, 128) for heads in (1, 4)]
RATE = {2: 0.005, 3: 0.01}  # by the number of facts


def measure(facts, heads, units, steps, seed):
    """Train one model; return its row."""
    lesson = page("10_multi_head_attention")
    torch.manual_seed(seed)
    model = lesson.with_hidden_layer(heads, facts, units) if units else lesson.Answerer(heads, facts)
    _, seconds = timed(lesson.fit, model, facts, seed, steps, RATE[facts])
    swapped = lesson.answered(model, True)[2:] if (facts, heads) == (2, 1) else [math.nan] * 2
    return [(RATE[facts], lesson.share_right(model, facts), *swapped, seconds)]


if __name__ == "__main__":
    options = read_options(__doc__, 3)
    fill("facts", COLUMNS, jobs(SETUPS, options.seeds), measure)
