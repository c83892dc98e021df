"""Correct answers to 01.must_fail in other styles than the solution's."""

from itertools import combinations_with_replacement

import numpy as np


def by_sorted_words(sentences, labels):
    found = {True: set(), False: set()}
    for i, first in enumerate(sentences):
        for j, second in enumerate(sentences):
            if labels[i] == labels[j]:
                found[bool(labels[i])].add(tuple(sorted(first + second)))
    return len(found[True] & found[False]) > 0


def by_count_vectors(sentences, labels):
    words = list(dict.fromkeys(word for sentence in sentences for word in sentence))
    counts = [np.array([sentence.count(word) for word in words]) for sentence in sentences]
    positive = [c for c, label in zip(counts, labels, strict=True) if label]
    negative = [c for c, label in zip(counts, labels, strict=True) if not label]
    return any(
        np.array_equal(a + b, c + d)
        for a, b in combinations_with_replacement(positive, 2)
        for c, d in combinations_with_replacement(negative, 2)
    )


NONE_OF_ITS_OWN = "It is a search for two pairs of sentences. A Counter compares two of them, and the solution has one."
CORRECT = [
    by_sorted_words,
    by_count_vectors,
]


def inputs(draw):
    n = draw.randint(0, 6)
    sentences = [[draw.choice("abc") for _ in range(draw.randint(1, 3))] for _ in range(n)]
    return sentences, [draw.random() < 0.5 for _ in range(n)]
