"""Task 01.build_vocabulary: a number for every word."""

from collections import Counter
from string import punctuation

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.checks.way import left_out

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
    as_it_is = [often] * 5 + [often.capitalize()] * 4 + ["n't", "Zoo"] * 3 + [f"{often}."] * 2 + ["!"]
    yield Case("capitals and punctuation", ([as_it_is],))
    yield Case("no sentence at all", ([],), edge=True)
    yield Case("an empty sentence", ([[], ["fun"]], 1), edge=True)


@task.steps
def _(sentences, min_count=1):
    counts = yield "the counts", lambda sentences: Counter(w for s in sentences for w in s), sentences
    kept = yield "the words kept", lambda counts, least: [w for w in counts if counts[w] >= least], counts, min_count
    ordered = yield "the words in order", lambda kept, counts: sorted(kept, key=lambda w: (-counts[w], w)), kept, counts
    vocabulary = yield "the vocabulary", lambda words: _numbered(["<pad>", "<unk>", *words]), ordered
    return vocabulary


def _numbered(words):
    return {word: i for i, word in enumerate(words)}


# What is counted and kept

task.changed_each(
    ("lower_case", 'You turn capitals into small letters before you count. "Film" and "film" are two different words here: take the words as they are.', {"sentences": lambda sentences: [[w.lower() for w in s] for s in sentences]}),
    ("punctuation_stripped", "You strip punctuation from the words. Take the words as they are: a full stop can be a word too.", {"sentences": lambda sentences: [[w.strip(punctuation) for w in s if w.strip(punctuation)] for s in sentences]}),
    ("sentences_counted", "You count the sentences in which a word appears. A word that appears twice in one sentence should count twice.", {"the counts": lambda sentences: Counter(w for s in sentences for w in set(s))}),
    ("min_count_exclusive", "A word seen exactly min_count times belongs in the vocabulary, but your comparison leaves it out.", {"min_count": lambda least: least + 1}),
    ("min_count_unused", "min_count has no effect. Words seen fewer times than that should be left out.", {"min_count": lambda least: 1}),
)  # fmt: skip


# Their order

for name, sentence, ordered in (
    ("alphabetical", "Your words are in alphabetical order. Frequent words should come first; the alphabet only decides between words of the same count.", lambda kept, counts: sorted(kept)),
    ("rare_first", "In your order the rare words come first. The most frequent words should come first.", lambda kept, counts: sorted(kept, key=lambda w: (counts[w], w))),
    ("ties_as_met", "Words of the same count are in the order in which they were first seen, as Counter.most_common leaves them. They should be in alphabetical order, so that the numbers do not depend on the order of the sentences.", lambda kept, counts: sorted(kept, key=lambda w: -counts[w])),
    ("ties_turned", "The counts fall, as they should, but words of the same count run from z to a: `reverse=True` reverses both keys. Sort in rising order by (-count, word), where the minus sign reverses the count alone.", lambda kept, counts: sorted(kept, key=lambda w: (counts[w], w), reverse=True)),
    ("order_met", "Your words are numbered in the order in which they are first seen. Frequent words should come first, and words of the same count in alphabetical order.", left_out),
):  # fmt: skip
    task.changed(name, sentence, {"the words in order": ordered})


# Their numbers

SPECIAL = {"<pad>": 0, "<unk>": 1}
for name, sentence, vocabulary in (
    ("no_special_words", '"<pad>" and "<unk>" are missing. They always come first, as 0 and 1, whatever the sentences hold.', _numbered),
    ("words_from_zero", 'Your words are numbered from 0. But 0 and 1 belong to "<pad>" and "<unk>", so the first word gets 2.', lambda words: SPECIAL | _numbered(words)),
    ("special_words_swapped", '"<pad>" should be 0 and "<unk>" should be 1; you have them the other way round.', lambda words: _numbered(["<unk>", "<pad>", *words])),
):  # fmt: skip
    task.changed(name, sentence, {"the vocabulary": vocabulary})
