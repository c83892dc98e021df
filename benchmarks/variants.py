"""What five attentions get right in two worlds, and what they get right with other parts.

    python benchmarks/variants.py [--seeds 5]

The worlds are those of `course_utils/data/lookups.py`. Fills variants.csv, which lesson 20 shows: shares of right answers after 600
steps of 32 sequences of 32 steps, for sequences as long, twice and four times as long.
"""

from functools import partial
from itertools import product

import torch
from measuring import fill, jobs, read_options, timed

from course_utils.models.attention_report import LENGTHS, WORLDS
from course_utils.models.variants import (
    VARIANTS,
    accuracy,
    alibi,
    dot_product,
    fit,
    linear,
    reader,
    sparse,
    sparsemax,
    unit,
)

COLUMNS = "variant world seed steps length right cpu_seconds"
WITHOUT = {
    "linear without both": partial(linear, phi=lambda x: x, divide=False),
    "linear without the division": partial(linear, divide=False),
    "linear without φ": partial(linear, phi=lambda x: x),
    "linear, relu": partial(linear, phi=torch.relu),
    "linear, relu, without the division": partial(linear, phi=torch.relu, divide=False),
    "delta rule without the reading": partial(linear, phi=unit, divide=False),
}
TWO = 0.25 * (torch.arange(4) % 2)  # a slope for each head
OWN = {
    "1/4 in two heads": partial(alibi, own=TWO),
    "1/4 in all heads": partial(alibi, own=torch.full((4,), 0.25)),
    "1/4 in two heads, sparsemax": partial(alibi, own=TWO, normalise=sparsemax),
}
ALL = VARIANTS | WITHOUT | OWN
READ_BY = {  # a trained model of dot products, read with another attention
    "dot product, read with scores times 1.25": lambda query, *others: dot_product(1.25 * query, *others),
    "dot product, read with scores times 2": lambda query, *others: dot_product(2 * query, *others),
    "dot product, read with sparsemax": sparse,
}


def answers(variant, world, seed):
    """Train in one world; return a row for each length."""
    torch.manual_seed(seed)
    model = reader(ALL.get(variant, dot_product))
    _, seconds = timed(fit, model, world, seed)
    model.attend = READ_BY.get(variant, model.attend)
    return [(600, length, accuracy(model, world, length), seconds) for length in LENGTHS]


if __name__ == "__main__":
    setups = [(variant, world) for world, variant in product(WORLDS, ALL)] + [(variant, "once") for variant in READ_BY]
    fill("variants", COLUMNS, jobs(setups, read_options(__doc__, 5).seeds), answers)
