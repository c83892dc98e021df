"""The generated world at its smallest: about forty words that a small network learns in seconds, read in three ways.

A world as in `world.py`, without agreement: "the" and "today" vanish, "dog", "old", "saw" and "watched" become two words each, and
every other word becomes one. Only order and length are left to learn.

Here: its pairs, ready for a model. Not here: the grammar (`world.py`).
"""

from dataclasses import dataclass

from course_utils.base.errors import CourseError
from course_utils.data.subwords import Subwords
from course_utils.data.world import World, generate_translations

SMALL = {"vocabulary": 40, "fertility": 0.2, "agreement": False}
READINGS = {
    "as it is": lambda words: words,
    "reversed": lambda words: words[::-1],
    "twice": lambda words: words + words,
}


@dataclass(frozen=True)
class SmallPairs:
    """Sentences as a model reads them, their translations, the vocabulary of both, and which words belong together.

    The links are pairs of places from 0, (source, target), of the original sentence, however the model reads it.
    """

    sources: list[str]
    targets: list[str]
    words: Subwords
    links: list[list[tuple[int, int]]]

    def ids(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return sources and targets as lists of ids, without BOS and EOS."""
        return self.words.encode(self.sources), self.words.encode(self.targets)


def small_world(number, seed, order="monotone", reading="as it is", shortest=1, longest=12) -> SmallPairs:
    """Return pairs whose sources have shortest to longest words, each length equally likely.

    Args:
        number: of pairs.
        seed: the same seed gives the same pairs.
        order: of the target's words: "monotone", "verb-last" or "reversed".
        reading: how the model reads a source: "as it is", "reversed", or "twice", repeated.

    Raises:
        CourseError: for an unknown order or reading, or impossible lengths.
    """
    if reading not in READINGS:
        raise CourseError(f"reading must be one of {', '.join(READINGS)}, not {reading!r}")
    pairs = generate_translations(number, seed, shortest=shortest, longest=longest, order=order, **SMALL)
    sources = [" ".join(READINGS[reading](text.split())) for text in pairs.sources]
    return SmallPairs(sources, pairs.targets, vocabulary(), pairs.alignments)


def truth(sources: list[str], order="monotone") -> list[str]:
    """Return the correct translation of each sentence. Raises CourseError for a word that is not in this world."""
    world = World(order, **SMALL)
    return [" ".join(world.translate(source.split())[0]) for source in sources]


def vocabulary() -> Subwords:
    """Return the words of both languages, the same whatever the order and the pairs."""
    source = [word for kind in World(**SMALL).words().values() for word in kind]
    return Subwords.words([*source, *truth(source)])
