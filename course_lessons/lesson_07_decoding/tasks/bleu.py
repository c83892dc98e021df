"""Task 07.bleu: how much of a reference a translation has in common with it."""

from collections import Counter
from functools import partial
from math import exp, inf, log
from statistics import fmean

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

ORDERS = (1, 2, 3, 4)

task = Task(
    "07.bleu",
    "what translations and references have in common",
    arguments=("hypotheses", "references"),
    result="score",
    difficulty=4,
    importance=4,
    minutes=30,
    hints=(
        "Count first, divide later: for each n, add up the matches and the numbers of n-grams over all sentences, and only then divide. An n-gram of a hypothesis can match only as often as the reference contains it.",
        (
            "Take the hypothesis a b c d e f, whose reference is a b c d e g. 5 of its 6 single words match, 4 of its 5 pairs, 3 of its 4 triples and 2 of its 3 groups of four. The product of the four "
            "precisions is 5/6 · 4/5 · 3/4 · 2/3 = 1/3, and its fourth root is 0.7598. Both have 6 words, so the brevity penalty is 1, and BLEU is 75.98. Without f the hypothesis has 5 words, and all its n-grams match; the penalty "
            "exp(1 - 6/5) = 0.8187 gives 81.87."
        ),
        "for n from 1 to 4: matches = total = 0; for each pair: count the n-grams of both; add to matches, for each n-gram, the smaller of its two counts; add to total the number of the hypothesis's n-grams; "
        "p_n = matches / total; if matches is 0, return 0. c and r = the numbers of words; bp = 1 if c >= r, else exp(1 - r / c); return 100 · bp · the fourth root of p_1 p_2 p_3 p_4.",
    ),
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
    again = _sentence(draw, 11)
    yield Case("a perfect translation", ([again, reference], [list(again), list(reference)]), edge=True)
    hypotheses, references = pairs(13, 7)
    yield Case("an empty hypothesis", ([hypotheses[0], []], references), edge=True)
    yield Case("a hypothesis of two words", ([hypotheses[0], reference[:2]], [references[0], reference]), edge=True)
    yield Case("no four words in common", ([[*reference[:3], "bird", *reference[3:6]]], [reference]), edge=True)
    yield Case("nothing in common", ([["bird"] * 7], [reference]), edge=True)
    yield Case("only empty hypotheses", ([[], []], [_sentence(draw, 5), _sentence(draw, 7)]), edge=True)


@task.property
def it_is_a_percentage(case, value):
    """From 0 to 100."""
    return (
        f"BLEU is a number from 0 to 100; for the input “{case.name}” yours is {value:.4g}."
        if value < -1e-6 or value > 100.001
        else None
    )


@task.property
def a_copy_is_perfect(case, value):
    """A translation that equals its reference has 100."""
    hypotheses, references = case.args
    return (
        f"If every hypothesis equals its reference, all n-grams match and the score is 100; yours is {value:.4g}."
        if hypotheses == references and abs(value - 100) > 1e-3
        else None
    )


@task.property
def nothing_is_zero(case, value):
    """No match of some order: 0."""
    hypotheses, references = case.args
    missing = next((n for n in ORDERS if not _matches(hypotheses, references)[n - 1]), None)
    return (
        f"No run of {missing} words occurs in both a hypothesis and its reference, so the score is 0; yours is {value:.4g}."
        if missing and value > 1e-6
        else None
    )


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


def _common(h, r):
    return (h & r).total()


def _matches(hypotheses, references, orders=ORDERS, grams=_grams, common=_common):
    """How many n-grams match, for each n."""
    pairs = list(zip(hypotheses, references, strict=True))
    return torch.tensor([sum(common(grams(h, n), grams(r, n)) for h, r in pairs) for n in orders]).double()


def _totals(hypotheses, orders=ORDERS, grams=_grams):
    """How many n-grams the hypotheses have, for each n."""
    return torch.tensor([sum(grams(words, n).total() for words in hypotheses) for n in orders]).double()


def _precisions(matches, totals):
    return matches / totals.clamp(min=1)


def _quotient(hypotheses, references):
    return _length(references) / _length(hypotheses) if any(hypotheses) else inf


def _length(sentences):
    return sum(map(len, sentences))


MATCHES, TOTALS = "the numbers of n-grams that match", "the hypotheses' n-grams"
PRECISIONS, MEAN, BREVITY = "the precisions", "the geometric mean", "the brevity penalty"


@task.steps
def _(hypotheses, references):
    matches = yield MATCHES, _matches, hypotheses, references
    totals = yield TOTALS, _totals, hypotheses
    precisions = yield PRECISIONS, _precisions, matches, totals
    mean = yield MEAN, lambda p: float(p.prod()) ** (1 / len(p)), precisions
    quotient = yield "the quotient of the lengths", _quotient, hypotheses, references
    brevity = yield BREVITY, lambda quotient: exp(min(0, 1 - quotient)), quotient
    share = yield "the share", lambda mean, brevity: mean * brevity, mean, brevity
    percentage = yield "the score", lambda share: 100 * share, share
    return percentage


# What is counted


def _counting(**how):
    """Changes of how n-grams are counted, in the matches and in the totals."""
    in_totals = {key: value for key, value in how.items() if key != "common"}
    return {MATCHES: partial(_matches, **how), TOTALS: partial(_totals, **in_totals)}


def _pooled(hypotheses, references):
    add_up = lambda sentences, n: sum((_grams(words, n) for words in sentences), Counter())  # noqa: E731
    return torch.tensor([_common(add_up(hypotheses, n), add_up(references, n)) for n in ORDERS]).double()


def _of_sentences_with_words(sentences, *, hypotheses):
    return [words for words, h in zip(sentences, hypotheses, strict=True) if h]


def _mean_of_sentences(score, *, hypotheses, references):
    """A change of the result: the mean of the sentences' own scores."""
    return fmean(task.variant({})([h], [r]) for h, r in zip(hypotheses, references, strict=True))


task.changed(
    "mean_of_sentences",
    "You compute BLEU for each sentence and average the scores. Corpus BLEU adds up the matches and the numbers of n-grams over all sentences and divides once.",
    {"result": _mean_of_sentences},
)
task.changed(
    "not_clipped",
    "The matches are not limited: an n-gram of the hypothesis counts each time it occurs, even if the reference contains it less often. Use the smaller of the two counts.",
    _counting(common=lambda h, r: sum(number for gram, number in h.items() if gram in r)),
)
task.changed(
    "as_sets",
    "You count each distinct n-gram once, as a set does. An n-gram that occurs twice in both sentences matches twice and counts twice in the hypothesis: use counts.",
    _counting(grams=lambda words, n: Counter(set(_grams(words, n)))),
)
task.changed(
    "up_to_three",
    "You stop at runs of three words. n goes from 1 to 4: `range(1, 4)` ends with 3, and `range(4)` begins with 0.",
    _counting(orders=(1, 2, 3)),
)
task.changed(
    "recall",
    "You divide by the n-grams of the references. A precision is the share of the hypotheses' n-grams that match.",
    {TOTALS: lambda hypotheses, *, references: _totals(references)},
)
task.changed(
    "joined_words",
    "You join the words of an n-gram without anything between them, so “now here” and “no where” become identical. Use a tuple of the words, or join them with a space.",
    _counting(grams=lambda words, n: Counter(map("".join, _grams(words, n).elements()))),
)
task.changed(
    "last_n_gram_missing",
    "The last n-gram of each sentence is missing, for every n. A sentence of L words has L - n + 1 n-grams: `range(len(words) - n + 1)`.",
    _counting(grams=lambda words, n: _grams(words[:-1], n)),
)
task.changed(
    "empty_ones_left_out",
    "An empty hypothesis is left out together with its reference. It has no n-grams, but the words of its reference count in r: keep both.",
    dict.fromkeys(("hypotheses", "references"), _of_sentences_with_words),
)
task.changed(
    "pooled",
    "An n-gram may match in the reference of another sentence: you add up the counts of all sentences before you compare them. Compare each hypothesis with its own reference.",
    {MATCHES: _pooled},
)
task.changed(
    "smoothed",
    "You add 1 to the matches and to the numbers of n-grams. Add nothing here: if no n-gram matches for some n, the score is 0.",
    dict.fromkeys((MATCHES, TOTALS), lambda *sentences, right: right(*sentences) + 1),
)


# The brevity penalty: `q` is the number of words of the references divided by that of the hypotheses

task.changed_each(
    ("no_brevity", "The brevity penalty is missing. If the hypotheses have fewer words than the references, multiply by exp(1 - r/c).", {BREVITY: lambda q: 1.0}),
    ("long_ones_rewarded", "The brevity penalty is not limited: if c is above r, exp(1 - r/c) is above 1 and raises the score. It should then be 1.", {BREVITY: lambda q: exp(1 - q)}),
    ("brevity_turned_round", "The brevity penalty is the wrong way round: it penalises hypotheses that are too long instead of too short. It should be exp(1 - r/c) if c, the number of words in the hypotheses, is below r.", {BREVITY: lambda q: exp(min(0, 1 - 1 / q))}),
)  # fmt: skip


# The mean and the score

task.changed_each(
    ("exponents_of_d2l", "You raise p_n to the power 1/2ⁿ, as the book Dive into Deep Learning does, so p_1 counts most. Here, all four count equally: take the fourth root of their product.", {MEAN: lambda p: float((p ** (0.5 ** torch.arange(1, len(p) + 1))).prod())}),
    ("exponents_of_1_over_n", "You raise p_n to the power 1/n: p_1 counts in full and p_4 only by its fourth root. Here, all four count equally: take the fourth root of their product.", {MEAN: lambda p: float((p ** (1 / torch.arange(1, len(p) + 1))).prod())}),
    ("a_quarter_of_the_product", "You divide the product of the four precisions by 4: `** 1 / 4` is the first power, divided by 4. The fourth root is `** (1 / 4)`, with brackets.", {MEAN: lambda p: float(p.prod()) / 4}),
    ("square_root", "You take the square root of the product. There are four precisions: take the fourth root.", {MEAN: lambda p: float(p.prod()) ** 0.5}),
    ("product", "The fourth root is missing: you return the product of the four precisions.", {MEAN: lambda p: float(p.prod())}),
    ("arithmetic_mean", "You use the arithmetic mean of the four precisions. BLEU uses the geometric mean, the fourth root of their product, which is 0 if one of them is.", {MEAN: lambda p: float(p.mean())}),
    ("zeros_left_out", "If no n-gram matches for some n, you leave that n out. The score should then be 0, because one factor of the product is 0.", {MEAN: lambda p: float(p[p > 0].prod()) ** (1 / len(p[p > 0])) if p.any() else 0.0}),
)  # fmt: skip
task.changed(
    "stops_at_nothing",
    "Your function fails if no n-gram matches for some n. The score is then 0: check for that before you take a logarithm or divide, since Python raises an error for the logarithm of 0 and for a division by 0.",
    {MEAN: lambda p: exp(sum(map(log, p.tolist())) / 4)},
)
task.changed(
    "stops_where_all_are_empty",
    "Your function fails if all hypotheses are empty. There is then nothing to divide by, neither n-grams nor words, and the score is 0: return it before you divide.",
    {"the quotient of the lengths": lambda h, r: _length(r) / _length(h)},
)
