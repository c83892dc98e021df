"""A set of sentences with their translations, real or generated.

Not here: where pairs come from (`multi30k.py`, `world.py`), or how texts become numbers (`subwords.py`).
"""

from dataclasses import dataclass

from course_utils.base.errors import CourseError


@dataclass(frozen=True, eq=False)
class Pairs:
    """N texts and their translations, words separated by single spaces.

    `alignments` holds, if they are known, the links of each pair: (place of a source word, place of the target word
    that comes from it), both counted from 0. Raises `CourseError` if the lists differ in length.
    """

    sources: list[str]
    targets: list[str]
    alignments: list[list[tuple[int, int]]] | None = None

    def __post_init__(self):
        for name, others in (("targets", self.targets), ("alignments", self.alignments)):
            if others is not None and len(others) != len(self.sources):
                raise CourseError(
                    f"{len(self.sources)} sources came with {len(others)} {name}: give each source one of them"
                )

    def __len__(self) -> int:
        return len(self.sources)
