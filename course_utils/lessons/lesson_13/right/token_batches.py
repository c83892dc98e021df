"""Right answers to 13.token_batches in other styles than the solution's: generators, recursion, NumPy, slices of the order."""

from itertools import takewhile

import numpy as np


def by_slices(lengths, limit):
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batches, first = [], 0
    for place, i in enumerate(order):
        if lengths[i] > limit:
            raise ValueError(f"sentence {i} has {lengths[i]} tokens, and a batch holds {limit}")
        if (place + 1 - first) * lengths[i] > limit:
            batches.append(order[first:place])
            first = place
    return [*batches, order[first:]] if order else []


def by_numpy(lengths, limit):
    tokens = np.array(lengths, dtype=int)
    if (tokens > limit).any():
        raise ValueError("too long")
    order, batches = np.argsort(tokens, kind="stable"), []
    while len(order):
        fits = tokens[order] * np.arange(1, len(order) + 1) <= limit
        n = len(order) if fits.all() else int(np.argmin(fits))
        batches.append(order[:n].tolist())
        order = order[n:]
    return batches


def by_recursion(lengths, limit):
    def cut(pairs):
        if not pairs:
            return []
        if pairs[0][0] > limit:
            raise ValueError
        batch = [i for _, (length, i) in takewhile(lambda p: p[0] * p[1][0] <= limit, enumerate(pairs, 1))]
        return [batch, *cut(pairs[len(batch) :])]

    return cut(sorted((length, i) for i, length in enumerate(lengths)))


def by_a_generator(lengths, limit):
    def batches():
        batch = []
        for length, i in sorted(zip(lengths, range(len(lengths)), strict=True)):
            if length > limit:
                raise ValueError("a sentence does not fit")
            if limit < length * (1 + len(batch)):
                yield batch
                batch = []
            batch = [*batch, i]
        if batch:
            yield batch

    return list(batches())


def as_beginners_write(lengths, limit):
    result = []
    current = []
    longest = 0
    for i in sorted(range(len(lengths)), key=lambda k: lengths[k]):
        if lengths[i] > limit:
            raise ValueError("sentence too long")
        new_longest = max(longest, lengths[i])
        if new_longest * (len(current) + 1) <= limit:
            current.append(i)
            longest = new_longest
        else:
            result.append(current)
            current = [i]
            longest = lengths[i]
    if len(current) > 0:
        result.append(current)
    return result


NONE_OF_ITS_OWN = "torch.utils.data has no sampler that counts tokens."
RIGHT = [by_slices, by_numpy, by_recursion, by_a_generator, as_beginners_write]
INPUTS = {
    "lengths": lambda draw: [draw.randint(1, 7) for _ in range(draw.randint(0, 9))],
    "limit": lambda draw: draw.randint(6, 30),
}
