"""Task 15.catch_blind_captioner: a test that finds captioners which overlook a part of the picture, or see words to come."""

from functools import partial
from types import SimpleNamespace

import torch

from course_lessons.lesson_15_captions.tasks._captioners import ANNOTATION, MOST, RARE, RIGHT, WORD, WRONG
from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, one_case_each, test_of
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
    __name__,
    "a test that catches blind captioners",
    arguments=("captioner",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE)),
    difficulty=4,
    importance=3,
    minutes=30,
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


_mistaken = MistakenTests(task, test_of(_trial, {"places": _annotations_move, "future": _words_to_come_stay}))


def _order_is_nothing(on):
    return equal_up_to_rounding(on.before, on.captioner(on.annotations.flip(1), on.words))


_mistaken("runs_only", places=None, future=None)
_mistaken("no_rounding", future=partial(_words_to_come_stay, same=torch.equal))
_mistaken(
    "too_coarse",
    places=partial(_annotations_move, least=0.1),
    future=partial(_words_to_come_stay, same=partial(equal_up_to_rounding, tolerance=0.1)),
)

# Which annotations are changed, and where the test looks

_mistaken(
    "all_places_at_once", places=partial(_annotations_move, cells=lambda B, L: [(b, slice(None)) for b in range(B)])
)
_mistaken("whole_batch_at_once", places=partial(_annotations_move, cells=lambda B, L: [(slice(None), slice(None))]))
_mistaken("first_place_alone", places=partial(_annotations_move, cells=lambda B, L: [(b, 0) for b in range(B)]))
_mistaken(
    "both_ends_alone",
    places=partial(_annotations_move, cells=lambda B, L: [(b, cell) for b in range(B) for cell in (0, -1)]),
)
_mistaken("first_row_alone", places=partial(_annotations_move, cells=lambda B, L: [(0, cell) for cell in range(L)]))
_mistaken("a_constant_added", places=partial(_annotations_move, change=lambda annotation, noise: annotation + 1))
_mistaken("multiplied", places=partial(_annotations_move, change=lambda annotation, noise: 2 * annotation))
_mistaken(
    "any_row_may_move",
    places=partial(_annotations_move, moved=lambda after, before, b, least: not equal_up_to_rounding(before, after)),
)
_mistaken("no_fresh_copies", places=partial(_annotations_move, copied=False))

# Sizes, and which features have to stay

_mistaken("batch_of_one", sizes=(1, 5, 7))
_mistaken("one_place", sizes=(3, 1, 7))
_mistaken("as_many_words_as_places", sizes=(3, 4, 4))
_mistaken("more_places_than_words", sizes=(3, 4, 3))
_mistaken("one_word", sizes=(3, 4, 1))
_mistaken("nearest_word", sizes=(3, 4, 2))
_mistaken("first_step_alone", future=partial(_words_to_come_stay, last=1))
_mistaken("words_of_the_first_row", future=partial(_words_to_come_stay, seen=lambda t: (0, slice(0, t))))
_mistaken("own_word_too", future=partial(_words_to_come_stay, seen=lambda t: (slice(None), slice(0, t + 1))))

# What a correct captioner need not do

_mistaken(
    "every_step_moves",
    places=partial(
        _annotations_move, moved=lambda after, before, b, least: ((after[b] - before[b]).abs() > least).any(-1).all()
    ),
)
_mistaken(
    "every_feature_moves",
    places=partial(
        _annotations_move, moved=lambda after, before, b, least: ((after[b] - before[b]).abs() > least).all(-1).any()
    ),
)
_mistaken("order_has_no_effect", more=_order_is_nothing)


LEFT_OUT = ("places", "future")  # what a test may leave out
_mistaken.without(LEFT_OUT, 1, dict.fromkeys)
