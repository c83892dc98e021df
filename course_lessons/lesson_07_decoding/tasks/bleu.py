"""Task 07.bleu: how much of a reference a translation has in common with it."""

from collections import Counter
from math import exp, inf, prod
from statistics import fmean

import torch

from course_utils.checks.task import Case, Task

ORDERS = (1, 2, 3, 4)

task = Task(
    __name__,
    "what translations and references have in common",
    arguments=("hypotheses", "references"),
    result="score",
    difficulty=4,
    importance=4,
    minutes=30,
)


WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog", "saw", "red", "The", "house", "in", "old", ".")


def _sentence(draw, length):
    """A sentence in which words come again."""
    return [WORDS[i] for i in draw.whole(0, len(WORDS), length).tolist()]


def _edited(draw, sentence, shorter=0):
    """A translation like it: one word another one, one word twice, and so many less at the end."""
    words = list(sentence)
    words[int(draw.whole(0, len(words)))] = "bird"
    words.insert(1, words[0])
    return words[: len(words) - 1 - shorter]


@task.cases
def _(draw):
    def pairs(*lengths, shorter=0):
        references = [_sentence(draw, length) for length in lengths]
        return [_edited(draw, words, shorter) for words in references], references

    reference = [WORDS[i] for i in draw.distinct(9, 0, len(WORDS)).tolist()]
    yield Case("one word of 9 wrong", ([[*reference[:6], "bird", *reference[7:]]], [reference]))
    yield Case("two sentences, as long as their references", pairs(11, 13))
    yield Case("two sentences that are too short", pairs(13, 17, shorter=3))
    hypotheses, references = pairs(11, 17)
    yield Case("two sentences that are too long", ([[*words, *words[:3]] for words in hypotheses], references))
    hypotheses, references = pairs(11, 13, 17)
    cut = [hypotheses[0][:7], [*hypotheses[1], "bird", "bird"], hypotheses[2]]
    yield Case("three sentences, one too short and one too long", (cut, references))
    first, second = reference[0], reference[1]
    yield Case(
        "a word again and again",
        ([[first] * 5 + reference[1:7], reference[:8]], [[first, *reference[1:8], first], [*reference[:8], second]]),
    )
    first, second = references = [_sentence(draw, 13), _sentence(draw, 11)]
    yield Case("words of one sentence in the other one", ([first[:9] + second[:4], second[4:]], references))
    hypotheses, references = pairs(17, 13)
    other = [[word.swapcase() if i in (1, 7) else word for i, word in enumerate(words)] for words in hypotheses]
    yield Case("upper and lower case", (other, references))
    hypotheses, references = pairs(7, 11)
    hypotheses[0], references[0] = [*hypotheses[0], "now", "here", "."], [*references[0], "no", "where", "."]
    yield Case("words that look the same when they are joined", (hypotheses, references))
    hypotheses, references = pairs(11, 13)
    for words in (*hypotheses, *references):
        words[3], words[7] = "don't", "well-known"
    hypotheses[0][5], references[0][5] = "tis", "'tis"
    yield Case("words with marks in them", (hypotheses, references))
    again = _sentence(draw, 11)
    yield Case("a perfect translation", ([again, reference], [list(again), list(reference)]), edge=True)
    hypotheses, references = pairs(13, 7)
    yield Case("an empty hypothesis", ([hypotheses[0], []], references), edge=True)
    yield Case("a hypothesis of two words", ([hypotheses[0], reference[:2]], [references[0], reference]), edge=True)
    yield Case("a copy of three words, which has no run of four", ([reference[:3]], [reference[:3]]), edge=True)
    yield Case("no four words in common", ([[*reference[:3], "bird", *reference[3:6]]], [reference]), edge=True)
    yield Case("nothing in common", ([["bird"] * 7], [reference]), edge=True)
    yield Case("only empty hypotheses", ([[], []], [_sentence(draw, 5), _sentence(draw, 7)]), edge=True)


@task.property
def it_is_a_percentage(case, value):
    """From 0 to 100."""
    if value < -1e-6 or value > 100.001:
        return f"BLEU is a number from 0 to 100; for the input “{case.name}” yours is {value:.4g}."
    return None


@task.property
def a_copy_is_perfect(case, value):
    """A translation that equals its reference has 100."""
    hypotheses, references = case.args
    return (
        f"If every hypothesis equals its reference, all n-grams match and the score is 100; yours is {value:.4g}."
        if hypotheses == references and abs(value - 100) > 1e-3 and _matches(hypotheses, references).all()
        else None
    )


@task.property
def nothing_is_zero(case, value):
    """No match of some order: 0."""
    hypotheses, references = case.args
    missing = next((n for n in ORDERS if not _matches(hypotheses, references)[n - 1]), None)
    if missing and value > 1e-6:
        return f"No run of {missing} words occurs in both a hypothesis and its reference, so the score is 0; yours is {value:.4g}."
    return None


@task.property
def parts_are_right(case, value):
    """What an incorrect score can be compared with, part by part."""
    hypotheses, references = case.args
    if abs(value - task.oracle_function(hypotheses, references)) < 1e-3:
        return None
    quotients = zip(_matches(hypotheses, references).tolist(), _totals(hypotheses).tolist(), strict=True)
    told = ", ".join(f"{a:.0f}/{b:.0f}" for a, b in quotients)
    brevity = exp(min(0, 1 - _quotient(hypotheses, references)))
    return f"For the input “{case.name}” p_1 to p_4 are {told}, and the brevity penalty is {brevity:.4g}. Compare these with yours. If all five agree, the mean is wrong: it is the fourth root of the product."


def _grams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _matches(hypotheses, references):
    """How many n-grams match, for each n."""
    pairs = list(zip(hypotheses, references, strict=True))
    return torch.tensor([sum((_grams(h, n) & _grams(r, n)).total() for h, r in pairs) for n in ORDERS]).double()


def _totals(hypotheses):
    """How many n-grams the hypotheses have, for each n."""
    return torch.tensor([sum(_grams(words, n).total() for words in hypotheses) for n in ORDERS]).double()


def _quotient(hypotheses, references):
    return _length(references) / _length(hypotheses) if any(hypotheses) else inf


def _length(sentences):
    return sum(map(len, sentences))


@task.steps
def _(hypotheses, references):
    matches = yield "the numbers of n-grams that match", _matches, hypotheses, references
    totals = yield "the hypotheses' n-grams", _totals, hypotheses
    precisions = yield "the precisions", lambda matches, totals: matches / totals.clamp(min=1), matches, totals
    mean = yield "the geometric mean", lambda p: float(p.prod()) ** (1 / len(p)), precisions
    quotient = yield "the quotient of the lengths", _quotient, hypotheses, references
    brevity = yield "the brevity penalty", lambda quotient: exp(min(0, 1 - quotient)), quotient
    share = yield "the share", lambda mean, brevity: mean * brevity, mean, brevity
    percentage = yield "the score", lambda share: 100 * share, share
    return percentage


@task.mistake()
def mean_of_sentences(hypotheses, references):
    return fmean(task.oracle_function([h], [r]) for h, r in zip(hypotheses, references, strict=True))


def mean_above_0(precisions):
    """Return the geometric mean of the precisions above 0; 0 if there is none."""
    above = [p for p in precisions if p]
    return prod(above) ** (1 / len(above)) if above else 0.0
