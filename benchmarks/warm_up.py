"""Whether a Transformer trains, with its norms in front or behind, with a warm-up and without.

    python benchmarks/warm_up.py [--seeds 0 1 2 3 4]

Trains Transformers of six layers on each side in the small world, at a high rate, about a minute each. Fills warm_up.csv, which lesson 13
shows.
"""

import torch
from measuring import fill, jobs, read_options
from torch import nn

from course_utils.data.small_world import small_world
from course_utils.models.custom_transformer import share_right
from course_utils.models.seq2seq import fit, make_batch
from course_utils.models.transformer import Transformer

COLUMNS = "norm warmup rate seed words_right"
LAYERS, STEPS = 6, 600
SETUPS = [(norm, warmup, 3e-3) for norm in ("pre", "post") for warmup in (0, 200)] + [("post", 0, 1e-3)]


def deep(vocabulary, norm, layers, seed):
    """Return an untrained Transformer of width 64 with as many layers on each side, without dropout; norm is "pre" or "post".

    Its weights begin as Glorot & Bengio 2010 say, as in Xiong et al. 2020. Those of `Transformer` begin smaller.
    """
    torch.manual_seed(seed)
    model = Transformer(vocabulary, 64, 4, 256, layers, layers, 0.0, norm)
    for module in model.modules():
        if isinstance(module, nn.Linear) and module is not model.readout:
            nn.init.xavier_uniform_(module.weight)
    return model


def measure(norm, warmup, rate, seed, steps=STEPS):
    """Train one model; return its row."""
    pairs, test = (small_world(number, of, order="verb-last") for number, of in ((20_000, 1), (300, 2)))
    model = deep(len(pairs.words), norm, LAYERS, seed)
    fit(model, *pairs.ids(), seed=seed, steps=steps, rate=rate, warmup=warmup)
    return [(share_right(model.eval(), *make_batch(*test.ids())),)]


if __name__ == "__main__":
    fill("warm_up", COLUMNS, jobs(SETUPS, read_options(__doc__, [0, 1, 2, 3, 4]).seeds), measure)
