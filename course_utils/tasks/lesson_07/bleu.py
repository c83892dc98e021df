"""Task 07.bleu: how much of a reference a translation has in common with it."""

from collections import Counter
from math import exp, log, prod

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
        "Count first, divide later: for each n, add up the matches and the numbers of n-grams over all sentences, and only then divide. A hypothesis can match an n-gram as often as the reference holds it, not more.",
        (
            "Take the hypothesis a b c d e f, whose reference is a b c d e g. 5 of its 6 single words match, 4 of its 5 pairs, 3 of its 4 triples and 2 of its 3 groups of four. The product of the four "
            "quotients is 5/6 · 4/5 · 3/4 · 2/3 = 1/3, and its fourth root is 0.7598. Both have 6 words, so the brevity penalty is 1, and BLEU is 75.98. Without f the hypothesis has 5 words, and all its n-grams match; the penalty "
            "exp(1 - 6/5) = 0.8187 gives 81.87."
        ),
        "for n from 1 to 4: matches = total = 0; for each pair: count the n-grams of both; add to matches, for each n-gram, the smaller of its two counts; add to total the number of the hypothesis's n-grams; "
        "p_n = matches / total, and where matches is 0 return 0. c and r = the numbers of words; bp = 1 if c >= r, else exp(1 - r / c); return 100 · bp · the fourth root of p_1 p_2 p_3 p_4.",
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
    hypotheses, references = pairs(13, 11)
    yield Case("a sentence that belongs to the other one", ([hypotheses[0], references[0][:9]], references))
    hypotheses, references = pairs(17, 13)
    other = [[word.swapcase() if i in (1, 7) else word for i, word in enumerate(words)] for words in hypotheses]
    yield Case("capitals and small letters", (other, references))
    hypotheses, references = pairs(7, 11)
    hypotheses[0], references[0] = [*hypotheses[0], "now", "here", "."], [*references[0], "no", "where", "."]
    yield Case("words that are alike when they are joined", (hypotheses, references))
    again = _sentence(draw, 11)
    yield Case("a perfect translation", ([again, reference], [list(again), list(reference)]), edge=True)
    hypotheses, references = pairs(13, 7)
    yield Case("an empty hypothesis", ([hypotheses[0], []], references), edge=True)
    yield Case("a hypothesis of two words", ([hypotheses[0], reference[:2]], [references[0], reference]), edge=True)
    yield Case("no four words in common", ([[*reference[:3], "bird", *reference[3:6]]], [reference]), edge=True)
    yield Case("nothing in common", ([["bird"] * 7], [reference]), edge=True)
    yield Case("only empty hypotheses", ([[], []], [_sentence(draw, 5), _sentence(draw, 7)]), edge=True)


@task.oracle
def _(hypotheses, references):
    from sacrebleu.metrics import BLEU

    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    return metric.corpus_score(
        [" ".join(words) for words in hypotheses], [[" ".join(words) for words in references]]
    ).score


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
        f"Where every hypothesis equals its reference, all n-grams match, and the score is 100; yours is {value:.4g}."
        if hypotheses == references and abs(value - 100) > 1e-3
        else None
    )


@task.property
def nothing_is_zero(case, value):
    """No match of some order: 0."""
    hypotheses, references = case.args
    missing = next((n for n in ORDERS if not _matches(hypotheses, references)[n - 1]), None)
    return (
        f"No group of {missing} words in a row is in a hypothesis and its reference, so the score is 0; yours is {value:.4g}."
        if missing and value > 1e-6
        else None
    )


@task.property
def parts_are_right(case, value):
    """What a wrong score can be compared with, part by part."""
    hypotheses, references = case.args
    if abs(value - task.oracle_function(hypotheses, references)) < 1e-3:
        return None
    quotients = zip(_matches(hypotheses, references).tolist(), _totals(hypotheses).tolist(), strict=True)
    told = ", ".join(f"{a:.0f}/{b:.0f}" for a, b in quotients)
    brevity = _brevity(_length(hypotheses), _length(references))
    return f"For the input “{case.name}” p_1 to p_4 are {told}, and the brevity penalty is {brevity:.4g}: print yours, and see which of them differs."


def _grams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _matches(hypotheses, references):
    """How many n-grams match, for each n."""
    return torch.tensor(
        [
            sum((_grams(h, n) & _grams(r, n)).total() for h, r in zip(hypotheses, references, strict=True))
            for n in ORDERS
        ]
    ).double()


def _totals(hypotheses):
    """How many n-grams the hypotheses have, for each n."""
    return torch.tensor([sum(max(0, len(h) - n + 1) for h in hypotheses) for n in ORDERS]).double()


@task.steps
def _(hypotheses, references):
    matches = yield "the numbers of n-grams that match", _matches, hypotheses, references
    totals = yield "the numbers of n-grams of the hypotheses", _totals, hypotheses
    precisions = yield "the precisions", lambda matches, totals: matches / totals.clamp(min=1), matches, totals
    mean = yield "the geometric mean", lambda p: float(p.prod()) ** 0.25, precisions
    quotient = yield "the quotient of the lengths", lambda h, r: _length(r) / max(1, _length(h)), hypotheses, references
    brevity = yield "the brevity penalty", lambda quotient: exp(min(0, 1 - quotient)), quotient
    share = yield "the share", lambda mean, brevity: mean * brevity, mean, brevity
    percentage = yield "the score", lambda share: 100 * share, share
    return percentage


def _length(sentences):
    return sum(map(len, sentences))


def _brevity(c, r):
    return 1.0 if c >= r else exp(1 - r / c) if c else 0.0


def _score(
    hypotheses,
    references,
    orders=ORDERS,
    grams=_grams,
    common=lambda h, r: (h & r).total(),
    mean=lambda ps: prod(ps) ** (1 / len(ps)),
    brevity=_brevity,
    least=0.0,
):
    """BLEU, of which parts may be exchanged."""
    precisions = []
    for n in orders:
        pairs = [(grams(h, n), grams(r, n)) for h, r in zip(hypotheses, references, strict=True)]
        matches, total = sum(common(h, r) for h, r in pairs) + least, sum(h.total() for h, _ in pairs) + least
        precisions.append(matches / total if total else 0.0)
    return 100 * brevity(_length(hypotheses), _length(references)) * mean(precisions)


@task.mistake(
    "You compute BLEU for each sentence and take the mean. Corpus BLEU adds up the matches and the numbers of n-grams over all sentences, and divides once."
)
def mean_of_sentences(hypotheses, references):
    scores = [_score([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    return sum(scores) / len(scores)


@task.mistake(
    "You divide in each sentence and take the mean of the sentences' precisions. Add up the matches and the numbers of n-grams over all sentences first, and divide once."
)
def precisions_of_sentences(hypotheses, references):
    def precision(h, r, n):
        total = max(0, len(h) - n + 1)
        return (_grams(h, n) & _grams(r, n)).total() / total if total else 0.0

    pairs = list(zip(hypotheses, references, strict=True))
    means = [sum(precision(h, r, n) for h, r in pairs) / len(pairs) for n in ORDERS]
    return 100 * _brevity(_length(hypotheses), _length(references)) * prod(means) ** 0.25


@task.mistake(
    "The matches are not limited: an n-gram of the hypothesis counts each time that it comes, also where the reference holds it less often. Count the smaller of the two numbers."
)
def not_clipped(hypotheses, references):
    return _score(hypotheses, references, common=lambda h, r: sum(number for gram, number in h.items() if gram in r))


@task.mistake(
    "You count each different n-gram once, as a set does. An n-gram that both hold twice matches twice, and the hypothesis has it twice: use counts."
)
def as_sets(hypotheses, references):
    return _score(hypotheses, references, grams=lambda words, n: Counter(set(_grams(words, n))))


@task.mistake(
    "Among the matches you count each different n-gram once, but in the total you count every n-gram of the hypothesis. Count a match as often as both contain it."
)
def matches_as_sets(hypotheses, references):
    return _score(hypotheses, references, common=lambda h, r: len(h.keys() & r.keys()))


@task.mistake(
    "The brevity penalty is missing. Where the hypotheses have fewer words than the references, multiply by exp(1 - r/c)."
)
def no_brevity(hypotheses, references):
    return _score(hypotheses, references, brevity=lambda c, r: 1.0)


@task.mistake(
    "You punish hypotheses that are too long like those that are too short. The penalty is 1 where the hypotheses have as many words as the references, or more."
)
def long_ones_punished(hypotheses, references):
    return _score(hypotheses, references, brevity=lambda c, r: exp(1 - max(c, r) / min(c, r)) if c else 0.0)


@task.mistake(
    "The brevity penalty is not limited: where the hypotheses are longer than the references, exp(1 - r/c) is above 1 and raises the score. It is 1 there."
)
def long_ones_rewarded(hypotheses, references):
    return _score(hypotheses, references, brevity=lambda c, r: exp(1 - r / c) if c else 0.0)


@task.mistake(
    "The brevity penalty is turned round: it punishes hypotheses that are too long, and short ones get off. It should be exp(1 - r/c) where c, the number of words of the hypotheses, is below r."
)
def brevity_turned_round(hypotheses, references):
    return _score(hypotheses, references, brevity=lambda c, r: _brevity(r, c))


@task.mistake(
    "The two cases of the brevity penalty are exchanged: exp(1 - r/c) is taken where c, the number of words of the hypotheses, is above r, and raises the score there; short ones get off. It belongs where c is below r."
)
def brevity_cases_exchanged(hypotheses, references):
    return _score(hypotheses, references, brevity=lambda c, r: exp(1 - r / c) if c > r else 1.0)


@task.mistake(
    "Your brevity penalty is exp(1 - c/r) where c is below r, which is above 1 and raises the score. It should be exp(1 - r/c), with c, the number of words of the hypotheses, in the denominator."
)
def brevity_quotient_turned(hypotheses, references):
    return _score(hypotheses, references, brevity=lambda c, r: exp(1 - c / r) if c < r else 1.0)


@task.mistake("Your brevity penalty is c/r. It should be exp(1 - r/c) where c is below r.")
def brevity_as_a_quotient(hypotheses, references):
    return _score(hypotheses, references, brevity=lambda c, r: min(1.0, c / r))


@task.mistake(
    "Your brevity penalty is exp(c/r - 1) where c is below r. It should be exp(1 - r/c), with c, the number of words of the hypotheses, in the denominator."
)
def brevity_above(hypotheses, references):
    return _score(hypotheses, references, brevity=lambda c, r: exp(c / r - 1) if c < r else 1.0)


@task.mistake(
    "The brevity penalty is taken sentence by sentence. It compares the words of all hypotheses together with those of all references: a long sentence makes up for a short one."
)
def brevity_of_sentences(hypotheses, references):
    each = [_brevity(len(h), len(r)) for h, r in zip(hypotheses, references, strict=True)]
    return _score(hypotheses, references, brevity=lambda c, r: sum(each) / len(each))


@task.mistake("The score is a share, from 0 to 1. Multiply by 100.")
def a_share(hypotheses, references):
    return _score(hypotheses, references) / 100


@task.mistake(
    "You take the arithmetic mean of the four precisions. BLEU takes the geometric one, the fourth root of their product, so that it is 0 where one of them is."
)
def arithmetic_mean(hypotheses, references):
    return _score(hypotheses, references, mean=lambda ps: sum(ps) / 4)


@task.mistake("The fourth root is missing: you return the product of the four precisions.")
def product(hypotheses, references):
    return _score(hypotheses, references, mean=prod)


@task.mistake("You take the square root of the product. The geometric mean of four numbers is its fourth root.")
def square_root(hypotheses, references):
    return _score(hypotheses, references, mean=lambda ps: prod(ps) ** 0.5)


@task.mistake(
    "You stop at groups of three words. n goes from 1 to 4: `range(1, 4)` ends with 3, and `range(4)` begins with 0."
)
def up_to_three(hypotheses, references):
    return _score(hypotheses, references, orders=(1, 2, 3))


@task.mistake("You leave out single words. n goes from 1 to 4.")
def from_two(hypotheses, references):
    return _score(hypotheses, references, orders=(2, 3, 4))


@task.mistake("You go up to groups of five words. n goes from 1 to 4.")
def up_to_five(hypotheses, references):
    return _score(hypotheses, references, orders=(1, 2, 3, 4, 5))


@task.mistake("You compare single words only. Groups of 2, 3 and 4 words in a row count too.")
def single_words(hypotheses, references):
    return _score(hypotheses, references, orders=(1,))


@task.mistake("You compare groups of four words only. Single words and groups of 2 and 3 count too.")
def four_alone(hypotheses, references):
    return _score(hypotheses, references, orders=(4,))


@task.mistake(
    "Hypotheses and references are exchanged: you divide by the n-grams of the references, and punish them for being short."
)
def exchanged(hypotheses, references):
    return _score(references, hypotheses)


@task.mistake(
    "You divide by the n-grams of the references. A precision is the share of the hypotheses' n-grams that match."
)
def recall(hypotheses, references):
    by_recall = _score(references, hypotheses, brevity=lambda c, r: 1.0)
    return by_recall * _brevity(_length(hypotheses), _length(references))


@task.mistake(
    "You join the words of an n-gram without anything between them, so “now here” and “no where” become the same. Take a tuple of the words, or join them with a space."
)
def joined_words(hypotheses, references):
    return _score(hypotheses, references, grams=lambda words, n: Counter(map("".join, _grams(words, n).elements())))


@task.mistake(
    "The last n-gram of each sentence is missing, for every n. A sentence of L words has L - n + 1 n-grams: `range(len(words) - n + 1)`."
)
def last_n_gram_missing(hypotheses, references):
    return _score(hypotheses, references, grams=lambda words, n: _grams(words[:-1], n))


@task.mistake(
    "An empty hypothesis is left out together with its reference. It has no n-grams, but the words of its reference count in r: keep both."
)
def empty_ones_left_out(hypotheses, references):
    kept = [pair for pair in zip(hypotheses, references, strict=True) if pair[0]]
    return _score([h for h, _ in kept], [r for _, r in kept])


@task.mistake("You turn capitals into small letters before you count. Case matters here: take the words as they are.")
def lower_case(hypotheses, references):
    lower = lambda sentences: [[word.lower() for word in words] for words in sentences]  # noqa: E731
    return _score(lower(hypotheses), lower(references))


@task.mistake("You count letters, not words: a string is taken apart where a list of words is expected.")
def letters(hypotheses, references):
    joined = lambda sentences: [list(" ".join(words)) for words in sentences]  # noqa: E731
    return _score(joined(hypotheses), joined(references))


@task.mistake(
    "You join all sentences to a single one, so that n-grams reach from one sentence into the next, and words may match in another sentence. Count in each pair of sentences, and add up."
)
def joined_sentences(hypotheses, references):
    return _score([sum(hypotheses, [])], [sum(references, [])])


@task.mistake(
    "An n-gram may match in the reference of another sentence: you add up the counts of all sentences before you compare them. Compare each hypothesis with its own reference."
)
def pooled(hypotheses, references):
    precisions = []
    for n in ORDERS:
        h, r = (sum((_grams(words, n) for words in sentences), Counter()) for sentences in (hypotheses, references))
        precisions.append((h & r).total() / h.total() if h else 0.0)
    return 100 * _brevity(_length(hypotheses), _length(references)) * prod(precisions) ** 0.25


@task.mistake(
    "You add 1 to the matches and to the numbers of n-grams. Nothing is added here: where no n-gram of some order matches, the score is 0."
)
def smoothed(hypotheses, references):
    return _score(hypotheses, references, least=1.0)


@task.mistake(
    "Where no n-gram of some order matches, you leave that order out. The score is 0 there: a product with 0 in it."
)
def zeros_left_out(hypotheses, references):
    def mean(ps):
        ps = [p for p in ps if p > 0]
        return prod(ps) ** (1 / len(ps)) if ps else 0.0

    return _score(hypotheses, references, mean=mean)


@task.mistake(
    "Your function stops where no n-gram of some order matches. The score is 0 there: ask for that before you take a logarithm or divide, since Python refuses the logarithm of 0 and a division by 0."
)
def stops_at_nothing(hypotheses, references):
    return _score(
        hypotheses,
        references,
        mean=lambda ps: exp(sum(map(log, ps)) / 4),
        brevity=lambda c, r: 1.0 if c >= r else exp(1 - r / c),
    )


@task.mistake(
    "Your function stops where all hypotheses are empty. There is nothing to divide by then, neither n-grams nor words, and the score is 0: return it before you divide."
)
def stops_where_all_are_empty(hypotheses, references):
    return _score(hypotheses, references) * _length(hypotheses) / _length(hypotheses)


@task.mistake(
    "You take the third root of the product. The geometric mean of four numbers is the fourth root of their product."
)
def cube_root(hypotheses, references):
    return _score(hypotheses, references, mean=lambda ps: prod(ps) ** (1 / 3))
