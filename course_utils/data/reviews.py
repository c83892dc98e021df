"""A set of reviews, real or generated, and the words that negate.

Not here: where reviews come from (`sst2.py`, `generated_reviews.py`).
"""

from dataclasses import dataclass

import torch

# Words that negate what they are next to, as SST-2 spells them: in lower case, contractions split, so that
# "can't", "won't", "isn't" are "ca n't", "wo n't", "is n't". About 22% of its sentences contain one.
_NOT = ["not", "n't", "cannot", "no", "never", "nothing", "nobody", "none", "nowhere"]
_NEITHER = ["neither", "nor", "without"]
_NEARLY = ["hardly", "barely", "scarcely", "rarely", "seldom"]
NEGATIONS = frozenset(_NOT + _NEITHER + _NEARLY)


@dataclass(frozen=True, eq=False)
class Reviews:
    """N sentences, each a list of words, with what people or a grammar say about them."""

    sentences: list[list[str]]
    labels: torch.Tensor  # N, int64: 1 positive, 0 negative
    name: str  # for a plot's title or a report
    negated: torch.Tensor  # N, bool: the sentence contains one of NEGATIONS

    def __len__(self) -> int:
        return len(self.sentences)


def holds_negation(sentences: list[list[str]]) -> torch.Tensor:
    """Return whether each of N sentences contains one of NEGATIONS: N, bool."""
    return torch.tensor([not NEGATIONS.isdisjoint(words) for words in sentences], dtype=torch.bool)
