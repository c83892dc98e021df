"""From texts to translated texts, and which word of a translation attended to which word of its source.

Not here: the search for a translation (`search.py`), and how good one is (`scores.py`).

Shape letters: B batch (sentences), T target length, S source length.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from course_utils.data.subwords import BOS, EOS, PAD, Subwords, check_texts
from course_utils.translation.search import translate_all


def translate(model: nn.Module, subwords: Subwords, texts: list[str], width: int = 5, alpha: float = 1.2) -> list[str]:
    """Translate texts by beam search, greedily for width 1; an empty text stays empty. Raises `CourseError` for a single text."""
    check_texts(texts)
    rows = subwords.encode([_tidy(text) for text in texts])
    return subwords.decode([found.tokens for found in translate_all(model, rows, width, alpha)])


class Alignment(NamedTuple):
    """A translation and its source, in words separated by spaces, and how much each target word attended to each source word."""

    source: list[str]
    target: list[str]
    weights: np.ndarray | None  # target words × source words, rows sum to at most 1; None without attention


def align(model: nn.Module, subwords: Subwords, text: str, width: int = 5, alpha: float = 1.2) -> Alignment:
    """Translate one text and return what attended to what.

    A word of several subwords attends with the mean of their weights and is attended to with the sum.
    """
    text = _tidy(text)
    (row,) = subwords.encode([text])
    (found,) = translate_all(model, [row], width, alpha, weights=True)
    return _by_words(subwords, (text, row), (subwords.decode([found.tokens])[0], found.tokens), found.weights)


@torch.inference_mode()
def align_pairs(model: nn.Module, subwords: Subwords, sources: list[str], targets: list[str]) -> list[Alignment]:
    """Return what attends to what, as `align` does, while the model reads given translations (teacher forcing)."""
    device, training = next(model.parameters()).device, model.training
    texts = [[_tidy(text) for text in side] for side in (sources, targets)]
    pairs = [list(zip(side, subwords.encode(side), strict=True)) for side in texts]  # of text and ids
    alignments = []
    model.eval()
    for first in range(0, len(sources), 64):
        given = [side[first : first + 64] for side in pairs]
        source = pad_sequence([torch.tensor([*ids, EOS]) for _, ids in given[0]], True, PAD)  # B S
        target = pad_sequence([torch.tensor([BOS, *ids]) for _, ids in given[1]], True, PAD)  # B T
        weights = model.attention(source.to(device), target.to(device))  # B T S: row t belongs to the target's word t
        weights = [None] * len(source) if weights is None else weights
        alignments += [_by_words(subwords, *pair) for pair in zip(*given, weights, strict=True)]
    model.train(training)
    return alignments


def _tidy(text: str) -> str:
    """Separate words by single spaces, so that all ways of counting them agree."""
    return " ".join(text.split())


def _by_words(subwords: Subwords, source: tuple, target: tuple, weights: Tensor | None) -> Alignment:
    """Turn weights T×S of subwords, followed by EOS and padding, into weights of words; a side is its text and ids."""
    words = [[word for word in text.split(" ") if word] for text, _ in (source, target)]
    if weights is None or not all(words):
        return Alignment(*words, None)
    rows, columns = (np.array(subwords.word_of(ids)) for _, ids in (target, source))
    weights = weights[: len(rows), : len(columns)].float().cpu().numpy()
    by_column = np.stack([weights[:, columns == s].sum(1) for s in range(len(words[0]))], 1)
    return Alignment(*words, np.stack([by_column[rows == t].mean(0) for t in range(len(words[1]))]))
