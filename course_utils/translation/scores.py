"""How good translations are: BLEU and chrF with the signatures that make them comparable, and agreement with a known truth.

Shape letters: T target length, S source length.
"""

from typing import NamedTuple

import numpy as np

from course_utils.base.errors import CourseError


class Score(NamedTuple):
    """A corpus score from 0 to 100, and sacrebleu's signature: which version of which metric, with which settings."""

    score: float
    signature: str


def bleu(translations: list[str], references: list[str]) -> Score:
    """Return corpus BLEU (Papineni et al. 2002) as sacrebleu computes it: cased, 13a tokens, one reference.

    Raises `CourseError` unless both are lists of texts, of the same length and not empty.
    """
    _check(translations, references)
    from sacrebleu.metrics import BLEU

    metric = BLEU()
    return Score(metric.corpus_score(translations, [references]).score, str(metric.get_signature()))


def chrf(translations: list[str], references: list[str]) -> Score:
    """Return corpus chrF2 (Popović 2015) as sacrebleu computes it. Raises `CourseError` as `bleu` does."""
    _check(translations, references)
    from sacrebleu.metrics import CHRF

    metric = CHRF()
    return Score(metric.corpus_score(translations, [references]).score, str(metric.get_signature()))


def _check(translations, references):
    for name, texts in (("translations", translations), ("references", references)):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise CourseError(f"{name} must be a list of texts, such as ['the cat sat'], not {texts!r:.60}")
    if len(translations) != len(references) or not translations:
        raise CourseError(
            f"each translation needs its reference: there are {len(translations)} and {len(references)}, and there must be "
            "as many of both, at least one"
        )


def exact_shares(translations: list[str], references: list[str]) -> tuple[float, float]:
    """Return the share of sentences that equal their reference, and of words that equal the reference's at their place.

    An extra word counts as wrong, like a missing one.
    """
    pairs = [(output.split(), wanted.split()) for output, wanted in zip(translations, references, strict=True)]
    right = sum(a == b for output, wanted in pairs for a, b in zip(output, wanted, strict=False))
    words = sum(max(len(output), len(wanted)) for output, wanted in pairs)
    return sum(output == wanted for output, wanted in pairs) / max(1, len(pairs)), right / max(1, words)


def share_in_order(translations: list[str], references: list[str]) -> float:
    """Return the share of words that are right and in the right order, wherever they are: those of the longest common subsequence.

    An extra word counts as wrong, like a missing one. Unlike in `exact_shares`, a missing word does not make those after it
    wrong.
    """
    pairs = [(output.split(), wanted.split()) for output, wanted in zip(translations, references, strict=True)]
    words = sum(max(len(output), len(wanted)) for output, wanted in pairs)
    return sum(len(common_words(output, wanted)) for output, wanted in pairs) / max(1, words)


def common_words(one: list[str], other: list[str]) -> list[tuple[int, int]]:
    """Return the longest common subsequence of two lists of words, as pairs of places."""
    longest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]  # its length from two places on
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            same = one[i] == other[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if same else max(longest[i + 1][j], longest[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def alignment_error_rate(weights: list[np.ndarray], links: list[list[tuple[int, int]]]) -> float:
    """Return how far attention is from the known links, over all sentences: 0 if they agree, at most 1.

    weights: of each sentence, T×S; links: of each, pairs (source word, target word). Each target word counts as linked to
    the source word with the most weight: A. AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|) (Och & Ney 2003), where the sure
    links S and the possible links P are both the known ones. Raises `CourseError` if there is nothing to compare.
    """
    right = found = known = 0
    for matrix, gold in zip(weights, links, strict=True):
        attended = set(zip(np.asarray(matrix).argmax(1).tolist(), range(len(matrix)), strict=True))
        right, found, known = right + len(attended & set(gold)), found + len(attended), known + len(set(gold))
    if not found + known:
        raise CourseError("there is no target word and no link: give sentences to compare")
    return 1 - 2 * right / (found + known)
