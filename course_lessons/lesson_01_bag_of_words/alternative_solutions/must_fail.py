"""Correct answers to 01.must_fail in other styles than the solution's."""

import numpy as np


def by_sorted_words(sentences, labels):
    found = {True: set(), False: set()}
    for i, first in enumerate(sentences):
        for j, second in enumerate(sentences):
            if labels[i] == labels[j]:
                found[bool(labels[i])].add(tuple(sorted(first + second)))
    return len(found[True] & found[False]) > 0


NONE_OF_ITS_OWN = "It is a search for two pairs of sentences. A Counter compares two of them, and the solution has one."
CORRECT = [by_sorted_words, lambda sentences, labels: np.bool_(by_sorted_words(sentences, labels))]


def inputs(draw):
    n = draw.randint(0, 6)
    sentences = [[draw.choice("abc") for _ in range(draw.randint(1, 3))] for _ in range(n)]
    return sentences, [draw.random() < 0.5 for _ in range(n)]
