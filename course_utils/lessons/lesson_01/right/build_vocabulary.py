"""Right answers to 01.build_vocabulary in other styles than the solution's."""

import itertools
from collections import Counter, OrderedDict, defaultdict

import numpy as np


def vocabulary_by_counter(sentences, min_count=1):
    counts = Counter()
    for s in sentences:
        counts.update(s)
    vocab = OrderedDict([("<pad>", 0), ("<unk>", 1)])
    for word in sorted(sorted(counts), key=counts.get, reverse=True):
        if counts[word] >= min_count:
            vocab[word] = len(vocab)
    return vocab


def vocabulary_by_numpy(texts, least=1):
    flat = [w for t in texts for w in t]
    words, counts = np.unique(np.array(flat, dtype=object).astype(str), return_counts=True) if flat else ([], [])
    order = np.lexsort((words, [-c for c in counts])) if flat else []
    kept = [str(words[i]) for i in order if counts[i] >= least]
    return dict(zip(["<pad>", "<unk>", *kept], np.arange(len(kept) + 2)))  # noqa: B905


def vocabulary_by_groups(sentences, min_count=1):
    seen = defaultdict(int)
    for sentence in sentences:
        for word in sentence:
            seen[word] += 1
    pairs = sorted([(-n, w) for w, n in seen.items() if n >= min_count])
    result = {"<pad>": 0, "<unk>": 1}
    result.update({w: i + 2 for i, (_, w) in enumerate(pairs)})
    return result


def vocabulary(sentences, least):
    counts = Counter(w for s in sentences for w in s)
    kept = sorted((w for w in counts if counts[w] >= least), key=lambda w: (-counts[w], w))
    return {w: i for i, w in enumerate(["<pad>", "<unk>", *kept])}


def by_most_common(sentences, min_count=1):
    """Words of the same count stay in the order in which they were counted."""
    common = Counter(sorted(itertools.chain.from_iterable(sentences))).most_common()
    words = ["<pad>", "<unk>", *(word for word, count in common if count >= min_count)]
    return {word: number for number, word in enumerate(words)}


# The standard library's own
OWN = [
    by_most_common,
]
RIGHT = [
    *OWN,
    vocabulary_by_counter,
    vocabulary_by_numpy,
    vocabulary_by_groups,
    lambda texts, at_least=1: {w: np.int64(i) for w, i in vocabulary(texts, at_least).items()},
    lambda s, m=1, *, specials=("<pad>", "<unk>"): dict(reversed(vocabulary(s, m).items())),
]


def sentences(draw):
    return [[draw.choice("abcdefg") for _ in range(draw.randint(0, 9))] for _ in range(draw.randint(0, 5))]


INPUTS = {"sentences": sentences, "min_count": lambda draw: draw.randint(1, 3)}
