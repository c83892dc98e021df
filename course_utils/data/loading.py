"""Real reviews and captions if they are available, generated ones otherwise, so that a lesson always has some.

Here: `review_file` and `caption_files`, for a page that reads the files itself, and `load_captions`, which reads them. Not here: how either is made (`sst2.py`, `multi30k.py`, `generated_reviews.py`, `small_world.py`), or how files are downloaded (`download.py`).
"""

import atexit
import copy
import functools
import gzip
import os
import shutil
import tempfile
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.data.download import DataError, fetch
from course_utils.data.generated_reviews import generate_reviews
from course_utils.data.multi30k import read_pairs
from course_utils.data.pairs import Pairs
from course_utils.data.small_world import small_world
from course_utils.data.sst2 import SPLITS

# The stand-in for SST-2: as many reviews, about as many of them negated.
_SIZES_AND_SEEDS = {"train": (6920, 1), "dev": (872, 2), "test": (1821, 3)}
_NEGATION = 0.22
# The stand-in for Multi30k, and what Multi30k calls its splits.
_CAPTION_SIZES_AND_SEEDS = {"train": (8_000, 1), "val": (300, 2), "test": (300, 3)}
_CAPTION_SPLITS = {"train": "train", "val": "val", "test": "test_2016_flickr"}


def review_file(split: str) -> Path:
    """Return the file of SST-2's train, dev or test split, or one of generated reviews if SST-2 is unavailable.

    A line is a review: its words separated by spaces, a tab, and its label, 1 if positive and 0 if negative.
    The choice is made once per process, for all three splits. Raises `CourseError` for any other split, not for missing
    data; but if the environment variable COURSE_REAL_DATA is set, as it is while lessons are built, generated data
    are not used (`DataError`).
    """
    if split not in SPLITS:
        raise CourseError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    return _review_files()[split]


@functools.cache
def _review_files() -> dict[str, Path]:
    """Return the files of all three splits, once, so that no lesson trains on real reviews and tests on generated ones."""

    def file(split):
        return fetch(f"sst2/{split}.tsv")

    if files := _load_all(file, SPLITS, "SST-2", "generated reviews"):
        return files
    folder, files = _temporary_folder(), {}
    for split, (size, seed) in _SIZES_AND_SEEDS.items():
        reviews, files[split] = generate_reviews(size, seed, negation=_NEGATION), folder / f"{split}.tsv"
        rows = zip(reviews.sentences, reviews.labels.tolist(), strict=True)
        files[split].write_text("\n".join(f"{' '.join(words)}\t{label}" for words, label in rows), encoding="utf-8")
    return files


def caption_files(split: str) -> tuple[Path, Path]:
    """Return the English and German files of Multi30k's train, val or 2016 test split, or two of the toy language if it is unavailable.

    Each is compressed with gzip; the same line of both is a pair. Chooses and raises as `review_file` does.
    """
    if split not in _CAPTION_SPLITS:
        raise CourseError(f"split must be train, val or test, not {split!r}")
    return _caption_files()[split]


@functools.cache
def _caption_files() -> dict[str, tuple[Path, Path]]:
    def both(split):
        return tuple(fetch(f"multi30k/{_CAPTION_SPLITS[split]}.{language}.gz") for language in ("en", "de"))

    if files := _load_all(both, _CAPTION_SPLITS, "Multi30k", "the toy language"):
        return files
    folder, files = _temporary_folder(), {}
    for split, which in _CAPTION_SIZES_AND_SEEDS.items():
        world, files[split] = small_world(*which, longest=10), (folder / f"{split}.en.gz", folder / f"{split}.de.gz")
        for path, texts in zip(files[split], (world.sources, world.targets), strict=True):
            path.write_bytes(gzip.compress("\n".join(texts).encode()))
    return files


def load_captions(split: str) -> Pairs:
    """Return the train, val or 2016 test split of Multi30k, English and German, or pairs of the toy language if it is unavailable.

    Chooses and raises as `caption_files` does.
    """
    return copy.deepcopy(_load_captions(*caption_files(split)))


_load_captions = functools.cache(read_pairs)


def _load_all(load, splits, real, instead):
    """Return each split of a data set, or None if it is unavailable, after saying what is used instead."""
    try:
        return {split: load(split) for split in splits}
    except DataError as error:
        if os.environ.get("COURSE_REAL_DATA"):
            raise
        print(f"Going on with {instead}, until {real} is there and the kernel restarted. {error}")
        return None


def _temporary_folder():
    folder = Path(tempfile.mkdtemp(prefix="attention-course-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
