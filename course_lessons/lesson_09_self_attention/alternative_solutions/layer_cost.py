"""Correct answers to 09.layer_cost in other styles than the solution's."""

from itertools import count

import torch


def by_a_table(kind, n, d, k, radius):
    layers = next(i for i in count() if k**i >= n)
    table = {
        "self": (3 * n * d**2 + 2 * n**2 * d, 1, 1),
        "recurrent": (2 * n * d**2, n, n),
        "convolution": (k * n * d**2, 1, layers),
        "restricted": (3 * n * d**2 + 2 * (2 * radius + 1) * n * d, 1, (n - 2) // radius + 1),
    }
    return table[kind]


NONE_OF_ITS_OWN = "It is a table of formulas."
CORRECT = [
    by_a_table,
    lambda *given: list(by_a_table(*given)),
    lambda *given: [torch.tensor(number) for number in by_a_table(*given)],
]
INPUTS = {
    "kind": lambda draw: draw.choice(["self", "recurrent", "convolution", "restricted"]),
    "n": lambda draw: draw.choice([draw.randint(2, 40), draw.randint(2, 5) ** draw.randint(1, 5)]),
    "d": lambda draw: draw.randint(1, 9),
    "k": lambda draw: draw.randint(2, 5),
    "radius": lambda draw: draw.randint(1, 9),
}
