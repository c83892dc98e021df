"""Correct answers to 07.bleu in other styles than the solution's."""

import math
from collections import Counter

import numpy as np


def by_lists(hypotheses, references):
    matches, totals = [0] * 4, [0] * 4
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        for n in range(1, 5):
            left = [reference[i : i + n] for i in range(len(reference) - n + 1)]
            for i in range(len(hypothesis) - n + 1):
                totals[n - 1] += 1
                if hypothesis[i : i + n] in left:
                    left.remove(hypothesis[i : i + n])
                    matches[n - 1] += 1
    if 0 in matches:
        return 0
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    penalty = 1 if c >= r else math.exp(1 - r / c)
    return 100 * penalty * (math.prod(matches) / math.prod(totals)) ** (1 / 4)


def by_logarithms(hypotheses, references):
    score = 0.0
    for n in range(1, 5):
        matches = total = 0
        for h, r in zip(hypotheses, references, strict=True):
            grams = Counter(zip(*(h[i:] for i in range(n)), strict=False))
            matches += (grams & Counter(zip(*(r[i:] for i in range(n)), strict=False))).total()
            total += grams.total()
        if not matches:
            return 0.0
        score += math.log(matches / total) / 4
    c, r = (sum(len(words) for words in sentences) for sentences in (hypotheses, references))
    return 100 * math.exp(score + min(0, 1 - r / c))


def by_arrays(hypotheses, references):
    counts = np.zeros((2, 4))
    for h, r in zip(hypotheses, references, strict=True):
        for n in range(4):
            ours = [" ".join(h[i : i + n + 1]) for i in range(len(h) - n)]
            theirs = [" ".join(r[i : i + n + 1]) for i in range(len(r) - n)]
            counts[0, n] += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            counts[1, n] += len(ours)
    if not counts[0].all():
        return 0.0
    c, r = sum(len(h) for h in hypotheses), sum(len(r) for r in references)
    return float(100 * np.exp(np.log(counts[0] / counts[1]).mean()) * np.minimum(1, np.exp(1 - r / c)))


def as_beginners_write_it(hypotheses, references):
    precisions = []
    for n in [1, 2, 3, 4]:
        match_count = 0
        total_count = 0
        for k in range(len(hypotheses)):
            hypothesis_counts = {}
            for i in range(len(hypotheses[k]) - n + 1):
                gram = tuple(hypotheses[k][i : i + n])
                hypothesis_counts[gram] = hypothesis_counts.get(gram, 0) + 1
            reference_counts = {}
            for i in range(len(references[k]) - n + 1):
                gram = tuple(references[k][i : i + n])
                reference_counts[gram] = reference_counts.get(gram, 0) + 1
            for gram in hypothesis_counts:
                total_count += hypothesis_counts[gram]
                if gram in reference_counts:
                    match_count += min(hypothesis_counts[gram], reference_counts[gram])
        if total_count == 0:
            precisions.append(0)
        else:
            precisions.append(match_count / total_count)
    hypothesis_length = sum([len(h) for h in hypotheses])
    reference_length = sum([len(r) for r in references])
    if hypothesis_length == 0:
        return 0.0
    bp = 1
    if hypothesis_length < reference_length:
        bp = math.e ** (1 - reference_length / hypothesis_length)
    return bp * (precisions[0] * precisions[1] * precisions[2] * precisions[3]) ** 0.25 * 100


# The standard library's own: & keeps the smaller of two counts
OWN = [
    by_logarithms,
]
CORRECT = [
    *OWN,
    by_lists,
    by_arrays,
    as_beginners_write_it,
]


def texts(lengths):
    """Texts of two words, of lengths drawn from these."""
    return lambda draw: [[draw.choice("ab") for _ in range(draw.choice(lengths))] for _ in range(draw.size("N"))]


INPUTS = {"hypotheses": texts([0, 6, 9, 14]), "references": texts(range(5, 13))}
