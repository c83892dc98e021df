"""Beam search taken apart into its rounds, so that one can see what each weighs, keeps and sets aside.

Plain and slow: each beginning is read anew. Here: a single sentence and a function that gives the next word's log probabilities.
Not here: the search that translates, in batches and with a cache (`search.py`).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.data.subwords import BOS, EOS, PAD


class Round(NamedTuple):
    """One round: beginnings as tuples of ids behind BOS, each with its log probability, the most probable first."""

    weighed: list[tuple[tuple[int, ...], float]]  # all continuations of the open ones
    kept: list[tuple[tuple[int, ...], float]]  # the `width` best of these
    ended: list[tuple[tuple[int, ...], float]]  # those of the kept that end in EOS; the others stay open


def rounds(step: Callable[[list[int]], Tensor], bos: int, eos: int, width: int, longest: int) -> list[Round]:
    """Return the rounds of a beam search, until nothing is open or `longest` words are written.

    Args:
        step: takes a beginning, BOS first, and returns the log probabilities V of the next word.
        width: how many continuations a round keeps.

    Raises:
        CourseError: for `width` or `longest` below 1.
    """
    for name, number in (("width", width), ("longest", longest)):
        if number < 1:
            raise CourseError(f"{name} must be at least 1, not {number}")
    found, open_ones = [], [((), 0.0)]
    while open_ones and len(found) < longest:
        weighed = [
            ((*ids, word), log_p + more)
            for ids, log_p in open_ones
            for word, more in enumerate(step([bos, *ids]).tolist())
        ]
        weighed.sort(key=lambda one: -one[1])
        kept = weighed[:width]
        open_ones = [one for one in kept if one[0][-1] != eos]
        found.append(Round(weighed, kept, [one for one in kept if one[0][-1] == eos]))
    return found


def step_of(model, source: list[int]) -> Callable[[list[int]], Tensor]:
    """Return a translator's `step` for one source, a list of ids without EOS: a beginning, BOS first → log probabilities V."""

    @torch.no_grad()
    def step(prefix):
        logits = model(torch.tensor([[*source, EOS]]), torch.tensor([prefix]))[0, -1].clone()  # V
        logits[[PAD, BOS]] = -torch.inf  # are never written
        return logits.log_softmax(-1)

    return step
