"""Task 01.build_vocabulary: a number for every word."""

import string
from collections import Counter

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

WORDS = ("good", "bad", "film", "plot", "a", "the", "not", "fun", "dull", "cast", "very")


task = Task(
    "01.build_vocabulary",
    "a number for every word",
    arguments=("sentences", "min_count"),
    result="vocabulary",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "First count every word over all sentences. Then put the words in order. Only then hand out the numbers, starting from 2.",
        (
            'Take the sentences ["b", "a", "b"] and ["c", "a"]. The counts are a: 2, b: 2, c: 1. The words a and b are equally frequent, so the '
            'alphabet puts a first; c is rarer and comes last. After "<pad>": 0 and "<unk>": 1 the numbers are "a": 2, "b": 3, "c": 4. With '
            "min_count=2, c would be left out."
        ),
        (
            "counts = a Counter of all words; kept = the words with count >= min_count; sort kept by the key (-count, word); start a dict with "
            '"<pad>": 0 and "<unk>": 1, and give each kept word the next number.'
        ),
    ),
)


def _sentences(draw, words, lengths):
    return [[WORDS[i] for i in draw.whole(0, words, length)] for length in lengths]


@task.cases
def _(draw):
    words = [WORDS[i] for i in draw.distinct(len(WORDS), 0, len(WORDS))]
    rare, often = sorted(words[:2])  # the alphabet alone would put them the wrong way round
    yield Case("one sentence", ([[often, rare, often]],))
    first, second, third = [word for word in words if word[0] != "f"][:3]  # two others have the same first letter
    yield Case("words equally frequent", ([["fun", first], [second, third, "film"]],))
    here, there, once = sorted(words[:2]) + words[2:3]  # both three times: the alphabet decides, not where they stand
    yield Case(
        "a word thrice in one sentence, another in three", ([[there, here, there, there], [here, once], [here]], 2)
    )
    yield Case("random sentences", (_sentences(draw, 11, (7, 5, 3, 11)),))
    yield Case("random sentences, min_count 2", (_sentences(draw, 11, (7, 5, 11)) + [["fun"], ["dull", "dull"]], 2))
    yield Case("random sentences, min_count 3", (_sentences(draw, 5, (13, 11)) + [["fun"] * 3, ["dull"] * 2], 3))
    as_it_is = [often] * 5 + [often.capitalize()] * 4 + ["n't"] * 3 + [f"{often}."] * 2 + ["!"]
    yield Case("capitals and punctuation", ([as_it_is],))
    yield Case("no sentence at all", ([],), edge=True)
    yield Case("an empty sentence", ([[], ["fun"]], 1), edge=True)


def _vocabulary(sentences, min_count, key, counts=None, reverse=False):
    counts = counts or Counter(word for sentence in sentences for word in sentence)
    kept = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: key(w, counts[w]), reverse=reverse)
    return {word: i for i, word in enumerate(["<pad>", "<unk>", *kept])}


@task.oracle
def _(sentences, min_count=1):
    words = [word for sentence in sentences for word in sentence]
    vocabulary = {"<pad>": 0, "<unk>": 1}
    for times in range(len(words), min_count - 1, -1):
        for word in sorted(set(words)):
            if words.count(word) == times:
                vocabulary[word] = len(vocabulary)
    return vocabulary


@task.mistake('"<pad>" and "<unk>" are missing. They always come first, as 0 and 1, whatever the sentences hold.')
def no_special_words(sentences, min_count=1):
    return {w: i - 2 for w, i in _vocabulary(sentences, min_count, lambda w, n: (-n, w)).items() if i > 1}


@task.mistake('"<pad>" should be 0 and "<unk>" should be 1; you have them the other way round.')
def special_words_swapped(sentences, min_count=1):
    return {**_vocabulary(sentences, min_count, lambda w, n: (-n, w)), "<pad>": 1, "<unk>": 0}


@task.mistake(
    "Your words are in alphabetical order. Frequent words should come first; the alphabet only decides between words of the same count."
)
def alphabetical(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: w)


@task.mistake("In your order the rare words come first. The most frequent words should come first.")
def rare_first(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: (n, w))


@task.mistake(
    "Words of the same count stand in the order in which they were first seen, as Counter.most_common leaves them. They should be in "
    "alphabetical order, so that the numbers do not depend on the order of the sentences."
)
def ties_as_met(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: -n)


@task.mistake(
    "Your words are numbered in the order in which they are first seen. Frequent words should come first, and words of the same count in "
    "alphabetical order."
)
def order_met(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: 0)


@task.mistake(
    "The counts fall, as they should, but words of the same count run from z to a: `reverse=True` reverses both keys. Sort in rising "
    "order by (-count, word), where the minus sign reverses the count alone."
)
def ties_turned(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: (n, w), reverse=True)


@task.mistake('Your words are numbered from 0. But 0 and 1 belong to "<pad>" and "<unk>", so the first word gets 2.')
def words_from_zero(sentences, min_count=1):
    vocabulary = _vocabulary(sentences, min_count, lambda w, n: (-n, w))
    return {w: i - 2 if i > 1 else i for w, i in vocabulary.items()}


@task.mistake("A word seen exactly min_count times belongs in the vocabulary, but your comparison leaves it out.")
def min_count_exclusive(sentences, min_count=1):
    return _vocabulary(sentences, min_count + 1, lambda w, n: (-n, w))


@task.mistake("min_count has no effect. Words seen fewer times than that should be left out.")
def min_count_unused(sentences, min_count=1):
    return _vocabulary(sentences, 1, lambda w, n: (-n, w))


@task.mistake(
    "You count the sentences in which a word appears. A word that appears twice in one sentence should count twice."
)
def sentences_counted(sentences, min_count=1):
    return _vocabulary(sentences, min_count, lambda w, n: (-n, w), Counter(w for s in sentences for w in set(s)))


@task.mistake(
    'You turn capitals into small letters before you count. "Film" and "film" are two different words here: take the words as they are.'
)
def lower_case(sentences, min_count=1):
    lower = [[word.lower() for word in sentence] for sentence in sentences]
    return _vocabulary(lower, min_count, lambda w, n: (-n, w))


@task.mistake("You strip punctuation from the words. Take the words as they are: a full stop can be a word too.")
def punctuation_stripped(sentences, min_count=1):
    stripped = [[word.strip(string.punctuation) for word in sentence] for sentence in sentences]
    return _vocabulary([[w for w in s if w] for s in stripped], min_count, lambda w, n: (-n, w))
