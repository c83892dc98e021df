"""Task 22.catch_silent_mistake: a test that finds what is wrong with a loaded model that raises no error and writes fluent text."""

import torch
import torch.nn.functional as F

from course_lessons.lesson_22_real_language_model.tasks._readers import LONGEST, REFERENCE, RIGHT, WRONG, V
from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, finite, one_case_each
from course_utils.checks.task import Task

MOST = 16  # texts in a call


def _problem(texts, first):
    """What is wrong with what a test gives to a candidate; None for nothing."""
    if not isinstance(texts, (list, tuple)) or not 0 < len(texts) <= MOST:
        return f"Your test calls `read` with `texts` that are not a list of 1 to {MOST} texts. A single text is a list of one: read([ids], first)."
    for ids in texts:
        if not isinstance(ids, (list, tuple)) or not 0 < len(ids) <= LONGEST:
            return f"Your test calls `read` with a text that is not a list of 1 to {LONGEST} ids. Each pair in `reference` consists of such a list and its logits."
        if not all(type(i) is int and 0 <= i < V for i in ids):
            return f"Your test calls `read` with a text that contains something other than ids from 0 to {V - 1}."
    if type(first) is not int or first < 1:
        return "Your test calls `read` with a `first` that is not a whole number of 1 or more: it says how many ids of each text are read at once."
    return None


task = Task(
    __name__,
    "a test that finds silent mistakes in a loaded model",
    arguments=("read", "reference"),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG)),
    difficulty=4,
    importance=5,
    minutes=30,
)

one_case_each(task, RIGHT, WRONG, beside=lambda place: REFERENCE)


def _test(read, reference, firsts=(1, 4), together=True, same=equal_up_to_rounding):
    """A test like the solution's, in which things may be left out."""
    for first in firsts:
        calls = [reference] if together else [[pair] for pair in reference]
        for pairs in calls:
            found = read([ids for ids, _ in pairs], first)
            if len(found) != len(pairs):
                return False
            if not all(same(right, logits) for (_, right), logits in zip(pairs, found, strict=True)):
                return False
    return True


_mistaken = MistakenTests(task, _test)
_mistaken.by_comparing(0.3)
_mistaken("runs_at_all", same=finite)


def _loss(logits):
    """The mean loss of the text whose logits these are or should be."""
    (ids,) = (ids for ids, right in REFERENCE if right.shape == logits.shape)
    return F.cross_entropy(logits[:-1], torch.tensor(ids[1:]))


def _losses_are_close(right, logits):
    return right.shape == logits.shape and bool((_loss(logits) - _loss(right)).abs() < 1e-4)


def _most_probable_are_the_same(right, logits):
    return right.shape == logits.shape and torch.equal(logits.argmax(-1), right.argmax(-1))


def _last_is_close(right, logits):
    return right.shape == logits.shape and equal_up_to_rounding(right[-1], logits[-1])


_mistaken("losses", same=_losses_are_close)
_mistaken("most_probable", same=_most_probable_are_the_same)
_mistaken("last_position", same=_last_is_close)
_mistaken.on_one_side(1e-4)
_mistaken(
    "mean_difference",
    same=lambda right, logits: right.shape == logits.shape and bool((logits - right).mean().abs() < 1e-4),
)
_mistaken(
    "mean_of_sizes",
    same=lambda right, logits: right.shape == logits.shape and bool((logits - right).abs().mean() < 1e-2),
)
_mistaken("up_to_a_constant", same=lambda right, logits: equal_up_to_rounding(right.softmax(-1), logits.softmax(-1)))
_mistaken("first_left_out", same=lambda right, logits: equal_up_to_rounding(right[1:], logits[1:]))
_mistaken("shapes", same=lambda right, logits: right.shape == logits.shape)
_mistaken("first_position", same=lambda right, logits: equal_up_to_rounding(right[0], logits[0]))
_mistaken("whole_and_one_at_a_time", firsts=(1, LONGEST))


@task.mistake()
def with_itself(read, reference):
    texts = [ids for ids, _ in reference]
    try:
        whole = read(texts, LONGEST)
        return all(
            equal_up_to_rounding(a, b) for first in (1, 4) for a, b in zip(whole, read(texts, first), strict=True)
        )
    except Exception:
        return False


_mistaken("whole_texts_alone", firsts=(LONGEST,))

LEFT_OUT = ("single", "middle", "together")  # what a test may leave out


def _without(parts):
    firsts = [first for name, first in (("single", 1), ("middle", 4)) if name not in parts] or [LONGEST]
    return {"firsts": firsts, "together": "together" not in parts}


_mistaken.without(LEFT_OUT, 2, _without, never_both=("single", "middle"))
