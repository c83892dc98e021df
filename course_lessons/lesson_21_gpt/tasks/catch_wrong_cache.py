"""Task 21.catch_wrong_cache: a test that finds models which give other logits with a cache than without.

Every cache that a test gets says how many ids it holds, so that a candidate can tell what it is given.
"""

from functools import wraps

import torch

from course_lessons.lesson_21_gpt.tasks._decoders import LONGEST, RARE, RIGHT, WRONG
from course_lessons.shared.candidate_tests import MistakenTests, equal_up_to_rounding, one_case_each
from course_utils.checks.running.contract import UsageError
from course_utils.checks.task import Task

IDS, MOST = 6, 16  # ids from 0 to 5 are in every vocabulary; sentences of a batch
KEYS = {"sentences", "ids", "kept"}  # of a cache


def _asking(model):
    """A candidate that says where a test breaks the rules of the prompt, be it right or wrong."""

    @wraps(model)
    def candidate(ids, cache=None):
        if problem := _problem(ids, cache):
            raise UsageError(problem)
        with torch.no_grad():
            logits, kept = model(ids.long(), None if cache is None else cache["kept"])
        before = 0 if cache is None else cache["ids"]
        return logits, {"sentences": len(ids), "ids": before + ids.shape[1], "kept": kept}

    return candidate


def _problem(ids, cache):
    """What is wrong with what a test gives to a model; None for nothing."""
    if not isinstance(ids, torch.Tensor) or ids.dim() != 2 or ids.is_floating_point() or ids.dtype == torch.bool:
        return "Your test calls a model with `ids` that are not a tensor of ids with two axes, one for sentences and one for positions. A piece of one id also has both axes: ids[:, t : t + 1]."
    if not ids.numel() or ids.min() < 0 or ids.max() >= IDS or len(ids) > MOST:
        return f"Your test calls a model with `ids` that are empty, are more than {MOST} sentences, or contain ids outside 0 to {IDS - 1}."
    if cache is not None and (not isinstance(cache, dict) or cache.keys() != KEYS):
        return "Your test calls a model with a `cache` that no model has returned. The cache is None at first and then the second result of the previous call, unchanged."
    if cache is not None and cache["sentences"] != len(ids):
        return f"Your test calls a model with {len(ids)} sentences and with a cache of {cache['sentences']}. A cache works only with the sentences that it was made from."
    before = 0 if cache is None else cache["ids"]
    if before + ids.shape[1] > LONGEST:
        return f"Your test gives a model a text of {before + ids.shape[1]} ids, including the cached ones. Models accept up to {LONGEST}."
    return None


task = Task(
    __name__,
    "a test that finds what a cache changes",
    arguments=("model",),
    result="verdict",
    candidates=tuple(map(_asking, (*RIGHT, *WRONG, *RARE))),
    difficulty=4,
    importance=5,
    minutes=30,
)


one_case_each(task, RIGHT, WRONG, RARE)


SIZES = ((1,) * 10, (3, 1, 2, 4))


def _ids(sentences, T=10):
    return torch.randint(0, IDS, (sentences, T), generator=torch.Generator().manual_seed(6))


def _in_pieces(model, ids, sizes, hand_on=True):
    cache, found = None, []
    for piece in ids.split(list(sizes), 1):
        logits, came = model(piece, cache)
        cache = came if hand_on else None
        found.append(logits)
    return torch.cat(found, 1)


def _test(
    model, sentences=3, ids=_ids, sizes=SIZES, alone=True, same=equal_up_to_rounding, at=slice(None), hand_on=True
):
    """A test like the solution's, in which things may be left out."""
    given = ids(sentences)
    whole = model(given, None)[0]
    found = [_in_pieces(model, given, each, hand_on) for each in sizes]
    if alone:
        found.append(torch.cat([model(row[None], None)[0] for row in given]))
    return all(same(whole[:, at], each[:, at]) for each in found) and bool(whole.shape[:2] == given.shape)


_mistaken = MistakenTests(task, _test)

_mistaken("runs_at_all", same=lambda a, b: True)
_mistaken.by_comparing(0.01)
_mistaken("last_position", at=slice(-1, None))
_mistaken("one_sentence", sentences=1)
_mistaken("two_ids", ids=lambda sentences: _ids(sentences, 2), sizes=((1, 1), (2,)))
_mistaken("cache_thrown_away", hand_on=False)

LEFT_OUT = ("single", "pieces", "alone")  # what a test may leave out


def _without(parts):
    sizes = [each for name, each in zip(("single", "pieces"), SIZES, strict=True) if name not in parts]
    return {"sizes": sizes, "alone": "alone" not in parts}


_mistaken.without(LEFT_OUT, 2, _without)
