"""From texts to translated texts, and how good these are: BLEU and chrF with the signatures that make them comparable.

Here: what `course translate` and `course evaluate` do. Not here: the search (`decoding.py`), reading arguments (`cli.py`).
"""

from typing import NamedTuple

import numpy as np
from torch import nn

from course_utils.data.subwords import Subwords
from course_utils.decoding import translate_all


class Score(NamedTuple):
    """A corpus score from 0 to 100, and sacrebleu's signature: which version of which metric, with which settings."""

    score: float
    signature: str


def translate(model: nn.Module, subwords: Subwords, texts: list[str], width: int = 5, alpha: float = 1.0) -> list[str]:
    """Translate texts by beam search, greedily for width 1; an empty text stays empty."""
    return subwords.decode([found.tokens for found in translate_all(model, subwords.encode(texts), width, alpha)])


class Alignment(NamedTuple):
    """A translation beside its source, words by spaces, and how much each target word attended to each source word."""

    source: list[str]
    target: list[str]
    weights: np.ndarray | None  # target words × source words, rows sum to at most 1; None without attention


def align(model: nn.Module, subwords: Subwords, text: str, width: int = 5, alpha: float = 1.0) -> Alignment:
    """Translate one text and return what attended to what.

    A word of several subwords attends as the mean of its subwords, and is attended to as their sum.
    """
    (row,) = subwords.encode([text])
    (found,) = translate_all(model, [row], width, alpha, weights=True)
    source, target = text.split(), subwords.decode([found.tokens])[0].split()
    if found.weights is None or not source or not target:
        return Alignment(source, target, None)
    columns, rows = np.array(subwords.word_of(row)), np.array(subwords.word_of(found.tokens))
    weights = found.weights[: len(rows), : len(columns)].float().numpy()  # without the column of EOS
    by_column = np.stack([weights[:, columns == s].sum(1) for s in range(len(source))], 1)
    return Alignment(source, target, np.stack([by_column[rows == t].mean(0) for t in range(len(target))]))


def alignment_error_rate(weights: list[np.ndarray], links: list[list[tuple[int, int]]]) -> float:
    """How far attention is from gold links, 0 the best and 1 the worst (Och & Ney 2003, equation 19, all links sure).

    AER = 1 - 2 |A ∩ G| / (|A| + |G|), where A links each target word to the source word with the most weight.
    weights: of each sentence, target words × source words; links: pairs (source word, target word).
    """
    found = [{(int(row.argmax()), place) for place, row in enumerate(rows)} for rows in weights]
    both = sum(len(a & set(gold)) for a, gold in zip(found, links, strict=True))
    return 1 - 2 * both / max(1, sum(map(len, found)) + sum(len(set(gold)) for gold in links))


def bleu(translations: list[str], references: list[str]) -> Score:
    """Corpus BLEU (Papineni et al. 2002) as sacrebleu computes it: cased, 13a tokens, one reference."""
    from sacrebleu.metrics import BLEU

    metric = BLEU()
    return Score(metric.corpus_score(translations, [references]).score, str(metric.get_signature()))


def chrf(translations: list[str], references: list[str]) -> Score:
    """Corpus chrF2 (Popović 2015) as sacrebleu computes it."""
    from sacrebleu.metrics import CHRF

    metric = CHRF()
    return Score(metric.corpus_score(translations, [references]).score, str(metric.get_signature()))
