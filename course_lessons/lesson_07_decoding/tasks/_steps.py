"""What the searches of lesson 07 ask for the next id: made-up decoders, whose probabilities depend on every id of the prefix.

Each is a function of the prefix alone, which begins with bos. Cases draw bos from many numbers, so each draw is another decoder. It answers
also where a correct search does not ask, after eos or beyond `longest`, so that what an incorrect one returns can be looked at. A strict one refuses.
"""

from functools import lru_cache
from zlib import crc32

import torch

from course_utils.checks.compare import describe
from course_utils.checks.running.contract import UsageError

SPREAD = 1.2  # of the scores that are drawn
LAST = 15  # from this length on a decoder ends, so that also a search without a limit has an end
APART = 5e-4  # at least, between two log probabilities that are compared: rounding does not exchange them


def _decoder(V, eos, ends, ties=False):
    """A step over V ids. `ends` is added to the score of eos at the beginning, and a little more with every id."""

    def log_p(prefix):
        draw = torch.Generator().manual_seed(crc32(repr((V, eos, prefix)).encode()))
        scores = SPREAD * torch.randn(V, generator=draw)
        length = len(prefix)
        scores[eos] += ends + 0.3 * length + (100 if length >= LAST else 0)
        if ties:
            scores[scores.topk(2).indices] = scores.amax()
        return scores.log_softmax(0)

    kept = lru_cache(maxsize=2**14)(log_p)  # of ordinary prefixes: those of an odd answer may be of any length

    def step(prefix):
        if not isinstance(prefix, (list, tuple)):
            to_do = " Its method `tolist` turns it into a list." if isinstance(prefix, torch.Tensor) else ""
            raise UsageError(
                f"step takes a list of ints, which begins with bos, but your function passes it {describe(prefix)}.{to_do}"
            )
        ids = tuple(map(int, prefix))
        return (kept(ids) if len(ids) <= 2 * LAST else log_p(ids)).clone()

    step.V, step.eos = V, eos
    return step


def _strict(step, longest):
    """The same step, which refuses a prefix that holds eos, or `longest` ids."""

    def strict(prefix):
        log_p = step(prefix)
        ids = list(map(int, prefix[1:]))
        if step.eos in ids:
            raise UsageError(
                f"Your function calls step with a prefix that already contains eos, {step.eos}. It ends a translation, so nothing after it is asked for."
            )
        if len(ids) >= longest:
            raise UsageError(
                f"Your function calls step with a prefix of {len(ids)} ids after bos, but longest is {longest}. Once that many are written, step is not called again."
            )
        return log_p

    strict.V, strict.eos, strict.freely = step.V, step.eos, step
    return strict


def freely(step):
    """Return a step that answers also where a strict one refuses."""
    return getattr(step, "freely", step)


DECODERS = (
    _decoder(5, 3, -1.0),
    _decoder(7, 0, -1.5),
    _decoder(3, 1, -1.0),
    _decoder(5, 4, 0.5),
    _decoder(2, 1, -1.0),
    _decoder(7, 2, -30.0),
    _decoder(11, 6, -0.5),
    _decoder(5, 2, -1.0, ties=True),
)
FIVE, SEVEN, THREE, SOON, TWO, LATE, ELEVEN, TIED = range(len(DECODERS))
STEPS = (*DECODERS, _strict(DECODERS[LATE], 3), _strict(DECODERS[SOON], 7))
STRICT_LATE, STRICT_SOON = range(len(DECODERS), len(STEPS))  # for a longest of 3, and of 7
TRIES = 20_000


def drawn_bos(draw, fits):
    """Return a bos for which fits(bos) holds."""
    for bos in draw.whole(100, 10**6, TRIES).tolist():
        if fits(bos):
            return bos
    raise RuntimeError("no decoder fits what a case is to show")
