"""Correct answers to 07.catch_wrong_beam in other styles than the solution's."""

import itertools
import math

import numpy as np
import torch

from course_utils.models.minimal import beam_search as reference


def by_tables(candidate):
    """Every prefix that a correct search may ask for has a row of a table; for others there is none."""
    rng = np.random.default_rng(3)
    for V, eos, width, longest in [
        (4, 1, 3, 4),
        (5, 3, 2, 4),
        (6, 2, 4, 3),
        (4, 2, 9, 2),
        (5, 1, 3, 4),
        (3, 2, 2, 5),
    ] * 2:
        others = [v for v in range(V) if v != eos]
        prefixes = [ids for length in range(longest) for ids in itertools.product(others, repeat=length)]
        table = {(7, *ids): torch.tensor(rng.dirichlet([1.0] * V)).log() for ids in prefixes}

        def step(prefix, table=table):
            return table[tuple(prefix)].clone()

        try:
            came, right = candidate(step, 7, eos, width, longest), reference(step, 7, eos, width, longest)
            if [ids for ids, _ in came] != [ids for ids, _ in right]:
                return False
            if not np.allclose([s for _, s in came], [s for _, s in right], atol=1e-5):
                return False
        except Exception:
            return False
    return True


def by_a_network(candidate):
    """A small recurrent network reads the whole prefix."""
    torch.manual_seed(5)
    embedding, cell, out = torch.nn.Embedding(8, 6), torch.nn.RNNCell(6, 6), torch.nn.Linear(6, 6)
    for weight in (cell.weight_hh, cell.weight_ih, out.weight):
        torch.nn.init.normal_(weight, std=1.5)

    @torch.no_grad()
    def step(prefix):
        state = torch.zeros(1, 6)
        for token in prefix:
            state = cell(embedding(torch.tensor([token])), state)
        return out(state)[0].log_softmax(-1)

    try:
        for bos, eos in ((6, 1), (7, 4), (6, 3), (7, 2), (7, 1)):
            for width, longest in ((1, 3), (2, 4), (4, 3), (8, 2)):
                right = reference(step, bos, eos, width, longest)
                for (ids, score), (wanted, log_p) in zip(candidate(step, bos, eos, width, longest), right, strict=True):
                    assert list(ids) == wanted and math.isclose(score, log_p, rel_tol=1e-5, abs_tol=1e-5)
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A search is tested by what it finds with decoders that the test makes up."
CORRECT = [by_tables, by_a_network]
