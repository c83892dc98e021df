"""Batches of sentences of similar length, counted in tokens, so that steps cost about the same and little is padding.

Here: rows of ids made into batches, and their order in each epoch. Not here: texts and subwords (`data/`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.data.subwords import BOS, EOS, PAD


class Batch(NamedTuple):
    """B sentence pairs: what the model reads, PAD after the shorter rows, and the N ids it should say, without padding."""

    source: Tensor  # B S, each row ends in EOS
    given: Tensor  # B T, each row begins with BOS
    wanted: Tensor  # N, each row's ids and EOS
    places: Tensor  # N, where these are among the B·T positions

    def to(self, device) -> "Batch":
        """Return the batch on a device."""
        return Batch(*(x.to(device, non_blocking=True) for x in self))


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return lists of ids as one tensor, PAD after the shorter ones."""
    padded = np.full((len(rows), max(map(len, rows))), PAD, dtype=np.int64)
    for place, row in zip(padded, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(padded)


class Batches:
    """The batches of each epoch: every pair once, pairs of similar length together, at most `tokens` source or target ids.

    Args:
        sources, targets: rows of ids, without BOS and EOS.
        tokens: the most ids, padding included, of either side of a batch.
        by: "tokens", or "sentences": as many batches, but each of equally many pairs of any length.
        seed: for the order of an epoch, which depends only on it and the epoch's number.

    Raises:
        CourseError: if a pair is longer than a batch, or there is none.
    """

    def __init__(self, sources: list[list[int]], targets: list[list[int]], tokens: int, seed: int, by: str = "tokens"):
        lengths = [(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
        if not lengths:
            raise CourseError("there is no pair to train on: give at least one")
        if max(map(max, lengths)) >= tokens:
            raise CourseError(
                f"a sentence has {max(map(max, lengths))} tokens, and a batch holds {tokens} with its end: allow more"
            )
        self.sources, self.targets, self.tokens, self.seed, self.by = sources, targets, tokens, seed, by
        self.lengths = np.array(lengths) + 1  # with EOS

    def epoch(self, number: int) -> list[np.ndarray]:
        """Return the epoch's batches in their order, each as indices of pairs; `read` turns them into tensors."""
        random = np.random.default_rng((self.seed, number))
        order = random.permutation(len(self.lengths))  # which pairs share a batch changes from epoch to epoch
        order = order[np.lexsort((self.lengths[order, 0], self.lengths[order, 1]))]
        batches, first, longest = [], 0, 0
        for place, length in enumerate(self.lengths[order].max(1)):
            longest = max(longest, length)
            if (place + 1 - first) * longest > self.tokens:
                batches.append(order[first:place])
                first, longest = place, length
        batches.append(order[first:])
        if self.by == "sentences":
            return np.array_split(random.permutation(order), len(batches))
        return [batches[i] for i in random.permutation(len(batches))]

    def read(self, places: np.ndarray) -> Batch:
        """Return the tensors of one batch."""
        source = pad([[*self.sources[i], EOS] for i in places])
        given = pad([[BOS, *self.targets[i]] for i in places])
        wanted = pad([[*self.targets[i], EOS] for i in places]).flatten()
        filled = wanted.nonzero()[:, 0]
        return Batch(source, given, wanted[filled], filled)

    def target_tokens(self, places: np.ndarray) -> int:
        """Return how many ids a model should say in a batch: its N."""
        return int(self.lengths[places, 1].sum())
