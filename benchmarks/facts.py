"""How many heads, and how wide a hidden layer, it takes to answer for two and for three facts at once.

    python benchmarks/facts.py [--seeds 3]

Reads the models from lesson 10's page, so that the table is about no others. Fills facts.csv, which the lesson shows, in ten to thirty
seconds a row. The columns of swapped weights are for two facts with one head: the share of digits that are still right if the weights of
the two pairs are exchanged, and the share of answers that are the other letter's digit.
"""

import math

import torch
from measuring import fill, jobs, page, read_options, timed

from course_utils.lessons.lesson_10._facts import change_the_weights, fit, share_right

COLUMNS = "facts heads units seed steps rate right swapped_right swapped_other cpu_seconds"
SETUPS = [
    (2, 1, 0),
    (2, 1, 32),
    (2, 1, 128),
    (3, 1, 32),
    (3, 4, 32),
    (3, 1, 128),
    (3, 4, 128),
]  # 0 units: no hidden layer
TRAINING = {2: (2000, 0.005), 3: (1000, 0.01)}  # steps and rate, by the number of facts


def measure(facts, heads, units, seed, steps=None):
    """Train one model; return its row."""
    lesson = page("10_multi_head_attention")
    torch.manual_seed(seed)
    model = lesson.with_hidden_layer(heads, facts, units) if units else lesson.Answerer(heads, facts)
    longest, rate = TRAINING[facts]
    _, seconds = timed(fit, model, facts, seed, steps or longest, rate)
    swapped = change_the_weights(model)["swapped"][2:] if (facts, heads) == (2, 1) else [math.nan] * 2
    return [(steps or longest, rate, share_right(model, facts), *swapped, seconds)]


if __name__ == "__main__":
    options = read_options(__doc__, 3)
    fill("facts", COLUMNS, jobs(SETUPS, options.seeds), measure)
