"""Task 22.catch_silent_mistake: a test that finds what is wrong with a loaded model that raises no error and writes fluent text."""

import torch
import torch.nn.functional as F

from course_lessons.lesson_22_real_language_model.tasks._readers import LONGEST, REFERENCE, RIGHT, WRONG, V
from course_lessons.shared.candidate_tests import (
    asking,
    equal_up_to_rounding,
    finite,
    mistakes_of_comparing,
    mistakes_of_one_side,
    mistakes_of_tests,
    one_case_each,
    tests_without,
)
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
    "22.catch_silent_mistake",
    "a test that finds silent mistakes in a loaded model",
    arguments=("read", "reference"),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG)),
    difficulty=4,
    importance=5,
    minutes=30,
    hints=(
        "The reference contains the correct logits for every id of a text, so nothing has to be computed. You choose how the texts are read. Ask when a mistake stays hidden: a mistake in the cache as long as nothing is cached, a mistake with several ids at once as long as they are read one by one, a mistake that one text leaves behind as long as there is no next text.",
        "Take a model that returns the position of each id as its only logit, where 0, 1, 2, 3, 4 is correct. Suppose its positions count calls. With first = 5, there is 1 call, and with first = 1 there are 5, and both give 0, 1, 2, 3, 4. With first = 3, the first call gives 0, 1, 2 and the next two give 1, 2. Only a text that is read in parts of both kinds reveals the mistake.",
        "texts = the ids of all pairs of the reference; for first in (1, 4): in a `try` that returns False on any exception, found = read(texts, first), all texts in one call; for each text: its shape must match the reference's logits, and all numbers must differ from them by less than 1e-4; otherwise return False. At the end return True.",
    ),
)

one_case_each(task, RIGHT, WRONG, beside=lambda place: REFERENCE)


def _test(read, reference, firsts=(1, 4), together=True, same=equal_up_to_rounding):
    """A test like the solution's, in which things may be left out."""
    try:
        for first in firsts:
            calls = [reference] if together else [[pair] for pair in reference]
            for pairs in calls:
                found = read([ids for ids, _ in pairs], first)
                if len(found) != len(pairs):
                    return False
                if not all(same(right, logits) for (_, right), logits in zip(pairs, found, strict=True)):
                    return False
        return True
    except Exception:
        return False


_mistaken = mistakes_of_tests(
    task,
    _test,
    "model",
    "Perhaps an error in the test itself, such as `read` being given a single text instead of a list of texts, ends in `except`, which returns False.",
)
mistakes_of_comparing(
    _mistaken,
    "model",
    "Your test rejects correct models whose last digits differ from the reference's.",
    "A model with a different θ passes your test",
    0.3,
)
_mistaken(
    "runs_at_all",
    "Every model that returns finite numbers of the correct shape passes your test. Compare the numbers with the reference's.",
    same=finite,
)


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


_mistaken(
    "losses",
    "Your test compares losses, or leaves out the last position, so a candidate whose logits after the last id are wrong passes your test. No loss contains these logits, but the model continues from them: compare all logits.",
    same=_losses_are_close,
)
_mistaken(
    "most_probable",
    "Your test compares only the most probable ids. A model that is slightly wrong everywhere passes your test: compare the logits.",
    same=_most_probable_are_the_same,
)
_mistaken(
    "last_position",
    "Your test looks only at the last position of each text, so a model that is wrong before it passes your test. Compare the logits after every id.",
    same=_last_is_close,
)
mistakes_of_one_side(_mistaken, "logits", 1e-4)
_mistaken(
    "mean_difference",
    "Your test averages the differences, so a model whose logits are too large in some places and too small in others passes your test. Require each difference to be small, using `.abs()`.",
    same=lambda right, logits: right.shape == logits.shape and bool((logits - right).mean().abs() < 1e-4),
)
_mistaken(
    "shapes",
    "Your test looks only at shapes, so any logits of the correct shape pass your test. Compare them with the reference's.",
    same=lambda right, logits: right.shape == logits.shape,
)
_mistaken(
    "first_position",
    "Your test looks only at the first position of each text, so a model that is wrong from the second position on passes your test. Compare the logits after every id.",
    same=lambda right, logits: equal_up_to_rounding(right[0], logits[0]),
)
_mistaken(
    "whole_and_one_at_a_time",
    "Your test passes models that fail if several ids are read at once and others follow: you read texts whole or one id at a time. Try a `first` in between.",
    firsts=(1, LONGEST),
)


@task.mistake(
    "Your test compares a model's logits with its own, read in a different way. A model with a different θ agrees with itself and passes your test: compare it with the reference."
)
def with_itself(read, reference):
    texts = [ids for ids, _ in reference]
    try:
        whole = read(texts, LONGEST)
        return all(
            equal_up_to_rounding(a, b) for first in (1, 4) for a, b in zip(whole, read(texts, first), strict=True)
        )
    except Exception:
        return False


_mistaken(
    "whole_texts_alone",
    "Your test reads whole texts at once, so a model whose cache is wrong passes your test. Try a smaller `first`, after which the ids follow one at a time.",
    firsts=(LONGEST,),
)

LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "single": ("models that fail if the first piece is a single id", "Also try first = 1."),
    "middle": (
        "models that fail if several ids are read at once and others follow",
        "Try a `first` of several ids that is smaller than the length of the texts.",
    ),
    "together": (
        "models in which one text changes the next one",
        "Pass several texts to one call, and also compare the later ones.",
    ),
}


def _without(parts):
    firsts = [first for name, first in (("single", 1), ("middle", 4)) if name not in parts] or [LONGEST]
    return lambda read, reference: _test(read, reference, firsts, "together" not in parts)


tests_without(task, LEFT_OUT, _without, 2, never_both=("single", "middle"))
