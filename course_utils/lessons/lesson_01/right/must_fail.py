"""Right answers to 01.must_fail in other styles than the solution's: sorted lists, count vectors, nested loops."""

from itertools import combinations_with_replacement

import numpy as np


def by_sorted_words(sentences, labels):
    found = {True: set(), False: set()}
    for i, first in enumerate(sentences):
        for j, second in enumerate(sentences):
            if labels[i] == labels[j]:
                found[bool(labels[i])].add(tuple(sorted(first + second)))
    return len(found[True] & found[False]) > 0


def by_four_loops(sentences, labels):
    n = len(sentences)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                for m in range(n):
                    if labels[i] and labels[j] and not labels[k] and not labels[m]:
                        left = sentences[i] + sentences[j]
                        right = sentences[k] + sentences[m]
                        if len(left) == len(right) and all(left.count(word) == right.count(word) for word in left):
                            return True
    return False


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


def by_crossing_off(sentences, labels):
    def same(left, right):
        rest = list(right)
        for word in left:
            if word not in rest:
                return False
            rest.remove(word)
        return not rest

    good = [s for s, label in zip(sentences, labels, strict=True) if label]
    bad = [s for s, label in zip(sentences, labels, strict=True) if not label]
    return any(same(a + b, c + d) for a in good for b in good for c in bad for d in bad)


NONE_OF_ITS_OWN = "It is a search for two pairs of sentences. A Counter compares two of them, and the solution has one."
RIGHT = [by_sorted_words, by_four_loops, by_count_vectors, by_crossing_off]


def inputs(draw):
    n = draw.randint(0, 6)
    sentences = [[draw.choice("abc") for _ in range(draw.randint(1, 3))] for _ in range(n)]
    return sentences, [draw.random() < 0.5 for _ in range(n)]
