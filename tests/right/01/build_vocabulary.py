"""Right answers to 01.build_vocabulary in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

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


RIGHT = [
    vocabulary_by_counter,
    vocabulary_by_numpy,
    vocabulary_by_groups,
]
