"""Whether a Transformer trains, with its norms in front or behind, with a warm-up and without.

    python benchmarks/warm_up.py [--seeds 0 1 2 3 4]

Trains Transformers of six layers on each side (`course_utils/models/deep_transformer.py`) in the small world, at a high rate, about a minute
each. Fills warm_up.csv, which lesson 13 shows.
"""

from measuring import fill, jobs, read_options

from course_utils.data.small_world import small_world
from course_utils.models.custom_transformer import share_right
from course_utils.models.deep_transformer import deep
from course_utils.models.seq2seq import fit, make_batch

COLUMNS = "norm warmup rate seed words_right"
LAYERS, STEPS = 6, 600
SETUPS = [(norm, warmup, 3e-3) for norm in ("pre", "post") for warmup in (0, 200)] + [("post", 0, 1e-3)]


def measure(norm, warmup, rate, seed, steps=STEPS):
    """Train one model; return its row."""
    pairs, test = (small_world(number, of, order="verb-last") for number, of in ((20_000, 1), (300, 2)))
    model = deep(len(pairs.words), norm, LAYERS, seed)
    fit(model, *pairs.ids(), seed=seed, steps=steps, rate=rate, warmup=warmup)
    return [(share_right(model.eval(), *make_batch(*test.ids())),)]


if __name__ == "__main__":
    fill("warm_up", COLUMNS, jobs(SETUPS, read_options(__doc__, [0, 1, 2, 3, 4]).seeds), measure)
