"""Correct answers to 11.catch_order_blind in other styles than the solution's."""

from itertools import islice, permutations

import numpy as np
import torch


def by_the_spread(model):
    """How far the outputs of all orders lie apart."""
    rng = np.random.default_rng(4)

    def spread(T):
        x = rng.normal(size=(T, 4)).astype("float32")
        came = np.stack([model(torch.tensor(x[rng.permutation(T)])).numpy() for _ in range(9)])
        return np.ptp(came, axis=0).max()

    return bool(max(spread(T) for T in range(2, 13)) > 2e-5)


def all_orders_of_few_and_some_of_many(model):
    g = torch.Generator().manual_seed(3)

    def orders(T):
        return permutations(range(T)) if T < 4 else islice(iter(lambda: torch.randperm(T, generator=g), None), 8)

    for T in range(2, 13):
        x = torch.randn(T, 4, generator=g)
        if any((model(x[torch.as_tensor(order)]) - model(x)).norm() > 3e-5 for order in orders(T)):
            return True
    return False


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change places."
CORRECT = [by_the_spread, all_orders_of_few_and_some_of_many]
