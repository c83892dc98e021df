"""Right answers to 01.build_vocabulary in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

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


def vocabulary_by_counting_by_hand(sentences, min_count=1):
    counts = {}
    for sentence in sentences:
        for word in sentence:
            if word in counts:
                counts[word] += 1
            else:
                counts[word] = 1
    words = sorted(counts)
    words.sort(key=lambda word: counts[word], reverse=True)
    vocabulary = {"<pad>": 0, "<unk>": 1}
    number = 2
    for word in words:
        if counts[word] >= min_count:
            vocabulary[word] = number
            number += 1
    return vocabulary


def vocabulary_by_going_down_the_counts(sentences, min_count=1):
    all_words = []
    for sentence in sentences:
        all_words += sentence
    vocabulary = {"<pad>": 0, "<unk>": 1}
    if len(all_words) == 0:
        return vocabulary
    counts = {word: all_words.count(word) for word in set(all_words)}
    for count in range(max(counts.values()), 0, -1):
        if count < min_count:
            break
        for word in sorted(counts.keys()):
            if counts[word] == count:
                vocabulary[word] = len(vocabulary)
    return vocabulary


def vocabulary_by_taking_the_best_each_time(sentences, min_count=1):
    counts = {}
    for sentence in sentences:
        for word in sentence:
            counts[word] = counts.get(word, 0) + 1
    words = ["<pad>", "<unk>"]
    while counts:
        best = None
        for word in counts:
            if best is None or counts[word] > counts[best] or (counts[word] == counts[best] and word < best):
                best = word
        if counts[best] < min_count:
            break
        words.append(best)
        del counts[best]
    result = {}
    for i in range(len(words)):
        result[words[i]] = i
    return result


def vocabulary(sentences, least):
    counts = Counter(w for s in sentences for w in s)
    kept = sorted((w for w in counts if counts[w] >= least), key=lambda w: (-counts[w], w))
    return {w: i for i, w in enumerate(["<pad>", "<unk>", *kept])}


def sorted_in_place(sentences, min_count=1):
    flat = sorted(itertools.chain.from_iterable(sentences))
    groups = [(w, len(list(g))) for w, g in itertools.groupby(flat)]
    groups.sort(key=lambda pair: -pair[1])  # stable: ties stay alphabetical
    result = defaultdict(lambda: 1, {"<pad>": 0, "<unk>": 1})
    for w, n in groups:
        if n >= min_count:
            result[w] = len(result)
    return result


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
    # As beginners write them
    vocabulary_by_counting_by_hand,
    vocabulary_by_going_down_the_counts,
    vocabulary_by_taking_the_best_each_time,
    # In odd styles
    sorted_in_place,
    lambda sentences, min_count=1: OrderedDict(vocabulary(sentences, min_count)),
    lambda texts, at_least=1: {w: np.int64(i) for w, i in vocabulary(texts, at_least).items()},
    lambda s, m=1, *, specials=("<pad>", "<unk>"): dict(reversed(vocabulary(s, m).items())),
    lambda *args: vocabulary(args[0], args[1] if args[1:] else 1),
]


def sentences(draw):
    return [[draw.choice("abcdefg") for _ in range(draw.randint(0, 9))] for _ in range(draw.randint(0, 5))]


INPUTS = {"sentences": sentences, "min_count": lambda draw: draw.randint(1, 3)}
