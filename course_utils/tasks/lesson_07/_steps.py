"""What the searches of lesson 07 ask for the next id: made-up decoders, whose probabilities depend on every id of the prefix.

Each is a function of the prefix alone, which begins with bos. Cases draw bos from many numbers, so each draw is another decoder. It answers
also where a right search does not ask, behind eos or beyond `longest`, so that what a wrong one returns can be looked at.
"""

from functools import lru_cache
from zlib import crc32

import torch

SPREAD = 1.2  # of the scores that are drawn
LAST = 15  # from this length on a decoder ends, so that also a search without a limit has an end
APART = 5e-4  # at least, between two log probabilities that are compared: rounding does not exchange them


def _decoder(V, eos, ends, ties=False):
    """A step over V ids. `ends` is added to the score of eos at the beginning, and a little more with every id."""

    @lru_cache(maxsize=2**14)
    def log_p(prefix):
        draw = torch.Generator().manual_seed(crc32(repr((V, eos, prefix)).encode()))
        scores = SPREAD * torch.randn(V, generator=draw)
        length = len(prefix)
        scores[eos] += ends + 0.3 * length + (100 if length >= LAST else 0)
        if ties:
            scores[scores.topk(2).indices] = scores.amax()
        return scores.log_softmax(0)

    def step(prefix):
        if not isinstance(prefix, (list, tuple)):
            raise TypeError("the prefix is a list of ids")
        return log_p(tuple(map(int, prefix))).clone()

    step.V, step.eos = V, eos
    return step


STEPS = (
    _decoder(5, 3, -1.0),
    _decoder(7, 0, -1.5),
    _decoder(3, 1, -1.0),
    _decoder(5, 4, 0.5),
    _decoder(2, 1, -1.0),
    _decoder(7, 2, -30.0),
    _decoder(11, 6, -0.5),
    _decoder(5, 2, -1.0, ties=True),
)
FIVE, SEVEN, THREE, SOON, TWO, LATE, ELEVEN, TIED = range(len(STEPS))
TRIES = 20_000


def drawn_bos(draw, fits):
    """Return a bos for which fits(bos) holds."""
    for bos in draw.whole(100, 10**6, TRIES).tolist():
        if fits(bos):
            return bos
    raise RuntimeError("no decoder fits what a case is to show")
