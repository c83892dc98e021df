"""Multi30k: captions of 31,000 photos in English with German and French translations (Elliott et al. 2016).

Here: two files' lines made into `Pairs`. Not here: how the files get onto this machine (`download.py`).
"""

import gzip
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.words import did_you_mean
from course_utils.data.download import DataError, fetch
from course_utils.data.pairs import Pairs

MULTI30K_SPLITS = ("train", "val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")
_LANGUAGES = ("en", "de", "fr")
MULTI30K_PAIRS = tuple(f"{one}-{other}" for one in _LANGUAGES for other in _LANGUAGES if one != other)


def load_multi30k(split: str, pair: str = "en-de") -> Pairs:
    """Return train (29,000 pairs), val (1,014) or one of three tests: 2016_flickr and 2017_flickr (1,000), 2017_mscoco (461).

    `pair` names source and target, two of en, de, fr. No links of words are known. Raises `CourseError` for
    an unknown split or pair, and `DataError` if the files are unavailable.
    """
    for name, received, known in (("split", split, MULTI30K_SPLITS), ("pair", pair, MULTI30K_PAIRS)):
        if received not in known:
            raise CourseError(
                f"{name} must be one of {', '.join(known)}, not {received!r}{did_you_mean(received, known)}"
            )
    return read_pairs(*(fetch(f"multi30k/{split}.{language}.gz") for language in pair.split("-")))


def read_pairs(source: Path, target: Path) -> Pairs:
    """Return the lines of two files as pairs. Raises `DataError` if one has more of them."""
    sources, targets = _read_lines(source), _read_lines(target)
    if len(sources) != len(targets):
        raise DataError(
            f"Expected as many lines in {source.name} as in {target.name}, but they have "
            f"{len(sources)} and {len(targets)}: download both anew."
        )
    return Pairs(sources, targets)


def _read_lines(path):
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    # About 250 lines have a space at an end, two in a row, a tab or a no-break space. BLEU and chrF don't see the
    # difference, but anyone who counts words does.
    return [" ".join(line.split()) for line in text.removesuffix("\n").split("\n")]
