"""The data that lessons run on, by the names lessons import; and `load_reviews`, which always has some.

Here: the choice between real and generated reviews. Not here: how either is made (`sst2.py`,
`generated_reviews.py`), nor how files are downloaded (`download.py`).
"""

import copy
import functools
import os

from course_utils.data.download import DataError, fetch, where
from course_utils.data.generated_reviews import (
    NEGATIVE,
    POSITIVE,
    GeneratedReviews,
    bag_of_words_ceiling,
    contrast_pairs,
    four_cases,
    generate_reviews,
)
from course_utils.data.multi30k import MULTI30K_PAIRS, MULTI30K_SPLITS, load_multi30k
from course_utils.data.pairs import Pairs
from course_utils.data.reviews import NEGATIONS, Reviews
from course_utils.data.sst2 import SPLITS, load_sst2
from course_utils.data.subwords import BOS, EOS, PAD, UNK, Subwords, subwords_for
from course_utils.data.world import ORDERS, World, generate_translations

__all__ = [
    "BOS",
    "EOS",
    "MULTI30K_PAIRS",
    "MULTI30K_SPLITS",
    "NEGATIONS",
    "NEGATIVE",
    "ORDERS",
    "PAD",
    "POSITIVE",
    "SPLITS",
    "UNK",
    "DataError",
    "GeneratedReviews",
    "Pairs",
    "Reviews",
    "Subwords",
    "World",
    "bag_of_words_ceiling",
    "contrast_pairs",
    "fetch",
    "four_cases",
    "generate_reviews",
    "generate_translations",
    "load_multi30k",
    "load_reviews",
    "load_sst2",
    "subwords_for",
    "where",
]

# The stand-in for SST-2: as many reviews, and about as many of them negated.
_SIZES_AND_SEEDS = {"train": (6920, 1), "dev": (872, 2), "test": (1821, 3)}
_NEGATION = 0.22


def load_reviews(split: str, prefer: str = "sst2") -> Reviews:
    """Return the train, dev or test split of SST-2, or of generated reviews where SST-2 can't be had.

    The choice is made once per process, for all three splits; `prefer="generated"` makes it here.
    Raises `ValueError` for another split or preference, never for want of data: but where the environment variable
    COURSE_REAL_DATA is set, as it is while lessons are built, generated reviews do not stand in (`DataError`).
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    if prefer not in ("sst2", "generated"):
        raise ValueError(f"prefer must be sst2 or generated, not {prefer!r}")
    if prefer == "sst2" and (splits := _sst2()):
        return copy.deepcopy(splits[split])  # so that a lesson may change what it gets
    size, seed = _SIZES_AND_SEEDS[split]
    return generate_reviews(size, seed, negation=_NEGATION)


@functools.cache
def _sst2() -> dict[str, Reviews] | None:
    """Load all three splits or none, once, so that no lesson trains in one world and tests in the other."""
    try:
        return {split: load_sst2(split) for split in SPLITS}
    except DataError as error:
        if os.environ.get("COURSE_REAL_DATA"):
            raise
        print(f"Going on with generated reviews, until SST-2 is there and the kernel restarted. {error}")
        return None
