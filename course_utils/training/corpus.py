"""What a run trains on: pairs for training and validation, and their subwords, as the settings name them.

Here: the choice. Not here: where pairs come from (`course_utils/data/`), and how they are batched (`batches.py`).
"""

from dataclasses import dataclass

from course_utils.base.errors import CourseError
from course_utils.base.words import did_you_mean
from course_utils.data.multi30k import load_multi30k
from course_utils.data.pairs import Pairs
from course_utils.data.subwords import Subwords, subwords_for
from course_utils.data.world import generate_translations
from course_utils.training.settings import PAIRS, Settings

WORLD_PAIRS = {"train": (PAIRS, 1), "val": (500, 2), "test": (1_000, 3)}  # how many, and the seed they are drawn with


@dataclass
class Corpus:
    """Training and validation pairs, and the subwords both are written in."""

    train: Pairs
    val: Pairs
    subwords: Subwords


def load_corpus(settings: Settings) -> Corpus:
    """Return what the settings name. Raises `CourseError` for an unknown pair or world, `DataError` if data is missing."""
    train, val = (load_pairs(settings, split) for split in ("train", "val"))
    texts = train.sources + train.targets
    if settings.data == "world":
        return Corpus(train, val, Subwords.words(texts))
    name = "-".join(["multi30k", *sorted(settings.pair.split("-"))])
    return Corpus(train, val, subwords_for(name, texts, settings.vocabulary))


def load_pairs(settings: Settings, split: str) -> Pairs:
    """Return a split of the data the settings name: train, val, or a test split."""
    if settings.data == "multi30k":
        return load_multi30k(split, settings.pair)
    if split not in WORLD_PAIRS:
        raise CourseError(
            f"split must be one of {', '.join(WORLD_PAIRS)}, not {split!r}{did_you_mean(split, WORLD_PAIRS)}"
        )
    options = dict(settings.world)
    number, seed = WORLD_PAIRS[split]
    if split == "train":
        number = options.pop("pairs", number)
    options.pop("pairs", None)
    return generate_translations(number, seed, **options)
