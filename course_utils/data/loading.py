"""`load_reviews` and `load_captions`: real data where they can be had, generated ones everywhere else, so that a lesson always has some.

Not here: how either is made (`sst2.py`, `multi30k.py`, `generated_reviews.py`, `small_world.py`), nor how files are downloaded (`download.py`).
"""

import copy
import functools
import os

from course_utils.base.errors import CourseError
from course_utils.data.download import DataError
from course_utils.data.generated_reviews import generate_reviews
from course_utils.data.multi30k import load_multi30k
from course_utils.data.pairs import Pairs
from course_utils.data.reviews import Reviews
from course_utils.data.small_world import small_world
from course_utils.data.sst2 import SPLITS, load_sst2

# The stand-in for SST-2: as many reviews, and about as many of them negated.
_SIZES_AND_SEEDS = {"train": (6920, 1), "dev": (872, 2), "test": (1821, 3)}
_NEGATION = 0.22
# The stand-in for Multi30k, and what Multi30k calls its splits.
_CAPTION_SIZES_AND_SEEDS = {"train": (8_000, 1), "val": (300, 2), "test": (300, 3)}
_CAPTION_SPLITS = {"train": "train", "val": "val", "test": "test_2016_flickr"}


def load_reviews(split: str, prefer: str = "sst2") -> Reviews:
    """Return the train, dev or test split of SST-2, or of generated reviews where SST-2 can't be had.

    The choice is made once per process, for all three splits; `prefer="generated"` makes it here.
    Raises `CourseError` for another split or preference, never for want of data: but where the environment variable
    COURSE_REAL_DATA is set, as it is while lessons are built, generated reviews do not stand in (`DataError`).
    """
    if split not in SPLITS:
        raise CourseError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    if prefer not in ("sst2", "generated"):
        raise CourseError(f"prefer must be sst2 or generated, not {prefer!r}")
    if prefer == "sst2" and (splits := _load_sst2()):
        return copy.deepcopy(splits[split])  # so that a lesson may change what it gets
    size, seed = _SIZES_AND_SEEDS[split]
    return generate_reviews(size, seed, negation=_NEGATION)


@functools.cache
def _load_sst2() -> dict[str, Reviews] | None:
    """Load all three splits or none, once, so that no lesson trains in one world and tests in the other."""
    return _load_all(load_sst2, SPLITS, "SST-2", "generated reviews")


def load_captions(split: str) -> Pairs:
    """Return the train, val or 2016 test split of Multi30k, English and German, or pairs of the toy language where it can't be had.

    The choice is made once per process, for all three splits. Raises `CourseError` for another split, and `DataError` as
    `load_reviews` does.
    """
    if split not in _CAPTION_SIZES_AND_SEEDS:
        raise CourseError(f"split must be train, val or test, not {split!r}")
    return copy.deepcopy(_load_captions()[split])


@functools.cache
def _load_captions() -> dict[str, Pairs]:
    def load(split):
        return load_multi30k(_CAPTION_SPLITS[split])

    if splits := _load_all(load, _CAPTION_SPLITS, "Multi30k", "the toy language"):
        return splits
    worlds = {split: small_world(*which, longest=10) for split, which in _CAPTION_SIZES_AND_SEEDS.items()}
    return {split: Pairs(world.sources, world.targets) for split, world in worlds.items()}


def _load_all(load, splits, real, instead):
    """Return each split of a data set, or None where it can't be had, after saying what is used instead."""
    try:
        return {split: load(split) for split in splits}
    except DataError as error:
        if os.environ.get("COURSE_REAL_DATA"):
            raise
        print(f"Going on with {instead}, until {real} is there and the kernel restarted. {error}")
        return None
