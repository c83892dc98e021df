"""Worlds in which different inputs follow different rules, so that several networks may share the work; the rules are known.

Here: numbers on three lines, and words in many languages. Not here: the experts that learn them
(`models/experts.py`).
"""

from typing import NamedTuple

import torch
from torch import Tensor

LINES = ((2.0, 4.0), (-1.0, 0.0), (0.5, -2.0))  # slope and height at 0, from left to right
ENDS = (-1.0, 1.0)  # where one line ends and the next begins
LANGUAGES, WORDS, LENGTH = 32, 64, 6  # of `Dictionaries`: how many languages, words, and words at a time


class OnLines(NamedTuple):
    """Numbers x N×1 and y N×1, and on which line each is, N."""

    x: Tensor
    y: Tensor
    line: Tensor


def on_lines(number: int, draw: torch.Generator, noise=0.1) -> OnLines:
    """Return points from -3 to 3 whose y follows one of three lines, depending on x, with normal noise."""
    x = 6 * torch.rand(number, 1, generator=draw) - 3
    line = (x > torch.tensor(ENDS)).sum(1)
    slope, height = torch.tensor(LINES)[line].unbind(1)
    return OnLines(x, slope[:, None] * x + height[:, None] + noise * torch.randn(number, 1, generator=draw), line)


class Dictionaries(NamedTuple):
    """Each word's translation in each language: languages×WORDS, each row a permutation."""

    table: Tensor

    def batch(self, draw: torch.Generator, size=64, length=LENGTH) -> tuple[Tensor, Tensor]:
        """Return what is given, size×(1 + length), a language and words (numbered after the languages), and the translations."""
        languages = len(self.table)
        language = torch.randint(languages, (size, 1), generator=draw)
        words = torch.randint(WORDS, (size, length), generator=draw)
        return torch.cat([language, languages + words], 1), self.table[language, words]


def dictionaries(seed: int, languages=LANGUAGES) -> Dictionaries:
    """Return dictionaries drawn at random; the same seed gives the same ones."""
    draw = torch.Generator().manual_seed(seed)
    return Dictionaries(torch.stack([torch.randperm(WORDS, generator=draw) for _ in range(languages)]))
