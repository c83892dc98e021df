"""Task 15.catch_blind_captioner: a test that finds captioners which overlook a part of the picture, or see words to come."""

from functools import partial
from types import SimpleNamespace

import torch

from course_lessons.lesson_15_captions.tasks._captioners import ANNOTATION, MOST, RARE, RIGHT, WORD, WRONG
from course_lessons.shared.candidate_tests import (
    asking,
    equal_up_to_rounding,
    mistakes_of_tests,
    one_case_each,
    test_of,
    tests_without,
)
from course_utils.checks.task import Task

LARGEST = 100  # of what a test gives


def _problem(annotations, words):
    """What is wrong with the arguments that a test gives to a candidate; None for nothing."""
    for name, tensor, width, shape in (
        ("annotations", annotations, ANNOTATION, "B×L×5"),
        ("words", words, WORD, "B×T×3"),
    ):
        if not isinstance(tensor, torch.Tensor) or tensor.dtype != torch.float32:
            return f"Your test calls a captioner with `{name}` that are not a float32 tensor."
        if tensor.dim() != 3 or tensor.shape[2] != width or not tensor.numel() or max(tensor.shape) > MOST:
            return f"Your test calls a captioner with `{name}` of shape {tuple(tensor.shape)}. They should be {shape}, and B, L and T should be between 1 and {MOST}."
        if not (tensor.abs() <= LARGEST).all():
            return f"Your test calls a captioner with `{name}` that contain NaN, infinity or numbers above {LARGEST} in size. Random numbers of about 1 are enough."
    if len(annotations) != len(words):
        return "Your test calls a captioner with different numbers of pictures and captions. Both should have B rows."
    return None


task = Task(
    "15.catch_blind_captioner",
    "a test that catches blind captioners",
    arguments=("captioner",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE)),
    difficulty=4,
    importance=3,
    minutes=30,
    hints=(
        "There is no reference to compare with, so compare the captioner with itself: call it once, change one thing in its input and call it again. A changed annotation must change some feature in its own row. Changed words must leave all features before them unchanged.",
        "Take a captioner that is blind to the last annotation and returns the mean of the others, and a picture with the annotations 2, 4 and 9: its feature is 3. Add 1 to all three, and the feature becomes 4, so the captioner seems to look at every annotation. Add 1 to only the first, and it becomes 3.5; add 1 to only the last, and it stays 3. Change one annotation at a time to see what is overlooked.",
        "In a `try` that returns False on any exception, for two shapes, one with more words than cells and one with fewer, both with at least two captions, three words and three cells: before = features of random annotations and words. For each row b and each cell: on a fresh copy, add random numbers to this annotation; row b of the new features must not be close to row b of `before`. For each t from 1 to T - 1: on a fresh copy, add random numbers to the words from t on; the features at steps 0 to t - 1 must be close to the same steps of `before`. Close means torch.allclose(…, atol=1e-5).",
    ),
)


one_case_each(task, RIGHT, WRONG, RARE)


# What a test promises itself of a captioner


def _trial(captioner, sizes=(3, 5, 7)):
    """What a captioner says of B pictures of L cells and T words."""
    B, L, T = sizes
    draw = torch.Generator().manual_seed(4)
    annotations, words, noise, more = (
        torch.randn(shape, generator=draw) for shape in ((B, L, ANNOTATION), (B, T, WORD), (ANNOTATION,), (B, T, WORD))
    )
    before = captioner(annotations, words)
    return SimpleNamespace(
        captioner=captioner, annotations=annotations, words=words, noise=noise, more=more, before=before
    )


def _own_row(after, before, b, least):
    return not equal_up_to_rounding(before[b], after[b], least)


def _each_cell(B, L):
    return [(b, cell) for b in range(B) for cell in range(L)]


def _annotations_move(on, cells=_each_cell, change=torch.add, moved=_own_row, least=1e-5, copied=True):
    """Each annotation that changes moves features of its own row."""
    for b, cell in cells(*on.annotations.shape[:2]):
        changed = on.annotations.clone() if copied else on.annotations
        changed[b, cell] = change(changed[b, cell], on.noise)
        if not moved(on.captioner(changed, on.words), on.before, b, least):
            return False
    on.before = on.before if copied else on.captioner(on.annotations, on.words)
    return True


def _words_to_come_stay(on, seen=lambda t: (slice(None), slice(0, t)), same=equal_up_to_rounding, last=None):
    """Words that change leave the features before them as they are."""
    for t in range(1, on.words.shape[1])[:last]:
        later = on.words.clone()
        later[:, t:] += on.more[:, t:]
        if not same(on.before[seen(t)], on.captioner(on.annotations, later)[seen(t)]):
            return False
    return True


_test = test_of(_trial, {"places": _annotations_move, "future": _words_to_come_stay})
_mistaken = mistakes_of_tests(
    task,
    _test,
    "captioner",
    "Perhaps an error in the test itself, such as an incorrect shape, ends up in `except`, which returns False.",
)


def _order_is_nothing(on):
    return equal_up_to_rounding(on.before, on.captioner(on.annotations.flip(1), on.words))


for _name, _sentence, _changes in (
    ("runs_only", "Every captioner that returns features of shape B×T×F passes your test. Change its input and see whether its features change or stay the same.", {"places": None, "future": None}),
    ("no_rounding", "Your test rejects correct captioners whose last digits differ when later words change, because they add in a different order. Allow for rounding where features must stay the same: torch.allclose(…, atol=1e-5), not torch.equal or `==`.", {"future": partial(_words_to_come_stay, same=torch.equal)}),
    ("too_coarse", "Your test rejects correct captioners because it misses small changes: one annotation of many may change a feature by less than 0.1. Real changes are above 1e-4, and rounding errors stay below 1e-5.", {"places": partial(_annotations_move, least=0.1), "future": partial(_words_to_come_stay, same=partial(equal_up_to_rounding, room=0.1))}),
    # Which annotations are changed, and where the test looks
    ("all_places_at_once", "Captioners that overlook a part of the picture pass your test because you change all its annotations at once. Change one annotation at a time.", {"places": partial(_annotations_move, cells=lambda B, L: [(b, slice(None)) for b in range(B)])}),
    ("whole_batch_at_once", "Your test passes captioners that overlook a part of the picture, or look at a different row's picture, because you change all annotations in the batch at once. Change one annotation at a time.", {"places": partial(_annotations_move, cells=lambda B, L: [(slice(None), slice(None))])}),
    ("first_place_alone", "Your test passes captioners that overlook an annotation other than the first, because you change only the first. Change each cell in turn.", {"places": partial(_annotations_move, cells=lambda B, L: [(b, 0) for b in range(B)])}),
    ("both_ends_alone", "Your test passes a captioner that overlooks an annotation in the middle of the picture, because you change only the first and the last. Change each cell in turn.", {"places": partial(_annotations_move, cells=lambda B, L: [(b, cell) for b in range(B) for cell in (0, -1)])}),
    ("first_row_alone", "Your test passes captioners that show the first picture to every row, or no picture to some row, because you change annotations only in the first row. Change annotations in every row.", {"places": partial(_annotations_move, cells=lambda B, L: [(0, cell) for cell in range(L)])}),
    ("a_constant_added", "Your test rejects a correct captioner that subtracts each annotation's mean from its features: adding the same number to all features has no effect on it. Add a random number to each feature.", {"places": partial(_annotations_move, change=lambda annotation, noise: annotation + 1)}),
    ("multiplied", "Your test rejects a correct captioner that first scales each annotation to the same length: multiplying an annotation by a number has no effect on it. Add random numbers to the annotation.", {"places": partial(_annotations_move, change=lambda annotation, noise: 2 * annotation)}),
    ("any_row_may_move", "Captioners that look at a different row's picture pass your test: features in a different row change, and you only ask whether something changes. Compare the row whose annotation you changed.", {"places": partial(_annotations_move, moved=lambda after, before, b, least: not equal_up_to_rounding(before, after))}),
    ("no_fresh_copies", "Captioners that overlook an annotation pass your test because you change the same tensor again and again: once some feature has changed, it stays changed, whatever you do next. Begin each change with a fresh copy, `annotations.clone()`.", {"places": partial(_annotations_move, copied=False)}),
    # Sizes, and which features have to stay
    ("batch_of_one", "Your test passes captioners that look at a different row's picture, or make a mistake in only some rows, because your batch has one row. Use at least two rows and change each of them.", {"sizes": (1, 5, 7)}),
    ("one_place", "Your test passes captioners that look at a part of the picture, such as the cell with the largest weight, because your pictures have a single cell. Use at least three cells.", {"sizes": (3, 1, 7)}),
    ("as_many_words_as_places", "Your test passes a captioner that works only if there are as many words as cells. Use different numbers of cells and words.", {"sizes": (3, 4, 4)}),
    ("more_places_than_words", "Your test passes a captioner that fails if there are more words than cells. Try two shapes, one with more words than cells and one with fewer.", {"sizes": (3, 4, 3)}),
    ("one_word", "Captioners that see later words pass your test because your captions have only one word. Use at least three words and change the later ones.", {"sizes": (3, 4, 1)}),
    ("nearest_word", "Your test passes a captioner that sees the word after the next one. Use captions of at least three words and compare all features before the words that you change, not only one step's features.", {"sizes": (3, 4, 2)}),
    ("first_step_alone", "Your test passes a captioner whose later steps see the next word, because you compare only the first step's features or change all words but the first. For each step, change the words after it and compare the features up to it.", {"future": partial(_words_to_come_stay, last=1)}),
    ("words_of_the_first_row", "Your test passes a captioner that sees the next word in every row but the first, because you compare only the first row's features. Compare the features in all rows.", {"future": partial(_words_to_come_stay, seen=lambda t: (0, slice(0, t)))}),
    ("own_word_too", "Your test rejects correct captioners because it compares one step too many: when the words from t on change, the features at t may also change, since they depend on word t. Only the features before t must stay the same.", {"future": partial(_words_to_come_stay, seen=lambda t: (slice(None), slice(0, t + 1)))}),
    # What a correct captioner need not do
    ("every_step_moves", "Your test rejects a correct captioner that looks at the picture only before the first word, because the test asks for a change at every step or at the last one. A change at any step is enough: compare all steps.", {"places": partial(_annotations_move, moved=lambda after, before, b, least: ((after[b] - before[b]).abs() > least).any(-1).all())}),
    ("every_feature_moves", "Your test rejects correct captioners because it requires a change in every feature of a step. A change in any feature is enough: one feature may describe the picture and another the words.", {"places": partial(_annotations_move, moved=lambda after, before, b, least: ((after[b] - before[b]).abs() > least).all(-1).any())}),
    ("order_has_no_effect", "Your test rejects correct captioners that attend by location: it reorders the annotations and asks that the features stay the same. Here, each cell may have its own weight.", {"more": _order_is_nothing}),
):  # fmt: skip
    _mistaken(_name, _sentence, **_changes)


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "places": (
        "captioners that overlook an annotation, or all of them,",
        "Change each annotation in turn and check that features in its row change.",
    ),
    "future": (
        "captioners that see later words",
        "Change the words from some step on and check that the features before it stay the same.",
    ),
}
tests_without(task, LEFT_OUT, lambda parts: lambda captioner: _test(captioner, **dict.fromkeys(parts)), 1)
