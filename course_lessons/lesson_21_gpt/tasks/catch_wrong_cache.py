"""Task 21.catch_wrong_cache: a test that finds models which give other logits with a cache than without.

Every cache that a test gets says how many ids it holds, so that a candidate can tell what it is given.
"""

from functools import wraps

import torch

from course_lessons.lesson_21_gpt.tasks._decoders import LONGEST, RARE, RIGHT, WRONG
from course_lessons.shared.candidate_tests import (
    equal_up_to_rounding,
    mistakes_of_comparing,
    mistakes_of_tests,
    one_case_each,
    tests_without,
)
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


CANDIDATES = tuple(map(_asking, (*RIGHT, *WRONG, *RARE)))

task = Task(
    "21.catch_wrong_cache",
    "a test that finds what a cache changes",
    arguments=("model",),
    result="verdict",
    candidates=CANDIDATES,
    difficulty=4,
    importance=5,
    minutes=30,
    hints=(
        "A model without a cache is its own reference: the logits it returns for the whole text at once are also the correct logits for the text in pieces. Call it once on the whole text, then read the same text in other ways and pass the cache from call to call. Which ways are there? One id after another, a prompt first, and each sentence separately.",
        (
            "Take a model that returns the sum of all ids so far plus the position, and the ids 3, 1, 4. For all at once, it returns 3, 5, 10: 3 + 0, 4 + 1, 8 + 2. Suppose its position starts again at 0 with each call. One id after another, it returns 3, 4, 8: the second call returns 4 + 0 instead of 4 + 1. "
            "In pieces of 2 ids and 1 id it returns 3, 5, 8. A test that only checks the first piece finds no fault."
        ),
        "Make a batch of three sentences of ten random ids from 0 to 5. A function goes through a batch in pieces of given sizes: it starts with None, passes each cache on and joins the logits. In a `try` that returns False on any exception: whole = the logits of the batch at once; compare with it: pieces of 1; pieces of 3, 1, 2 and 4; and each sentence as a batch of one. All differences are below 1e-5, and all numbers are finite.",
    ),
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
    try:
        whole = model(given, None)[0]
        found = [_in_pieces(model, given, each, hand_on) for each in sizes]
        if alone:
            found.append(torch.cat([model(row[None], None)[0] for row in given]))
        return all(same(whole[:, at], each[:, at]) for each in found) and bool(whole.shape[:2] == given.shape)
    except Exception:
        return False


_mistaken = mistakes_of_tests(
    task,
    _test,
    "model",
    "Perhaps an error in the test itself, such as a comparison of tensors of different shapes or of a model's two results with one tensor, ends in `except`, which returns False.",
)

_mistaken(
    "runs_at_all",
    "Every model that runs without an error passes your test. Compare the logits for the pieces with the logits for the whole text.",
    same=lambda a, b: True,
)
mistakes_of_comparing(
    _mistaken,
    "model",
    "Your test rejects correct models whose last digits differ because they sum in a different order.",
    "Models whose cache changes the logits a little pass your test, perhaps because you compare only the most probable ids",
    0.01,
)
_mistaken(
    "last_position",
    "Your test passes models that are wrong before the last id but not at it, because you compare only the last position's logits. Compare all positions.",
    at=slice(-1, None),
)
_mistaken(
    "one_sentence",
    "Your test passes models that use the cache of another sentence in the batch, because all sentences in your batches are the same, or there is only one. Try a batch of different sentences.",
    sentences=1,
)
_mistaken(
    "two_ids",
    "Your test passes models that are wrong only after the second id. Use longer texts.",
    ids=lambda sentences: _ids(sentences, 2),
    sizes=((1, 1), (2,)),
)
_mistaken(
    "cache_thrown_away",
    "Your test rejects every correct model that needs its cache. Each piece should get the cache that the previous call returned, but it seems to get None or the first call's cache.",
    hand_on=False,
)

LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "single": (
        "models that fail if the first piece is a single id",
        "Read the text one id at a time, from the first id on.",
    ),
    "pieces": (
        "models that fail on pieces of several ids",
        "Try pieces of several sizes, including a first and a later piece of several ids.",
    ),
    "alone": (
        "models in which the sentences of a batch influence one another",
        "Also call the model on each sentence separately and compare with the logits in the batch.",
    ),
}


def _without(parts):
    sizes = [each for name, each in zip(("single", "pieces"), SIZES, strict=True) if name not in parts]
    return lambda model: _test(model, sizes=sizes, alone="alone" not in parts)


tests_without(task, LEFT_OUT, _without, 2)
