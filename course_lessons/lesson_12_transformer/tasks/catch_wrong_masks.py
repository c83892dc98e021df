"""Task 12.catch_wrong_masks: a test that finds models in which padding, other sentences or later words change what they should not."""

import torch

from course_lessons.lesson_12_transformer.tasks._translators import RARE, RIGHT, WRONG, V
from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, one_case_each
from course_utils.checks.task import Task

WORDS = 5  # ids from 1 to 5 are words in every model
LONGEST = 30  # places


def _problem(source, target):
    """What is wrong with what a test gives to a model; None for nothing."""
    problem = _problem_of(source, "source") or _problem_of(target, "target")
    if problem is None and len(source) != len(target):
        problem = f"Your test calls a model with {len(source)} source sentences and {len(target)} target sentences. The two numbers must be equal."
    return problem


def _problem_of(ids, name):
    if not isinstance(ids, torch.Tensor) or ids.dim() != 2 or ids.dtype not in (torch.int32, torch.int64):
        return f"Your test calls a model with a `{name}` that is not a tensor of ids with two axes, one for sentences and one for positions."
    if not ids.numel() or ids.min() < 0 or ids.max() >= V:
        return f"Your test calls a model with a `{name}` that contains no ids, or ids other than 0 to V - 1. V is at least 6, so words 1 to 5 are in every vocabulary."
    if ids.shape[1] > LONGEST:
        return f"Your test calls a model with a `{name}` of {ids.shape[1]} positions. Models take up to {LONGEST}."
    real = ids != 0
    if not real[:, 0].all() or (real[:, 1:] & ~real[:, :-1]).any():
        return f"Your test calls a model with a `{name}` in which padding, 0, comes before a word, or in which a sentence has no word. Words come first, and each sentence has at least one."
    return None


task = Task(
    __name__,
    "a test that finds what padding, the batch and later words change",
    arguments=("model",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=4,
    importance=5,
    minutes=30,
)


one_case_each(task, RIGHT, WRONG, RARE)


LENGTHS = ((5, 2, 4), (3, 4, 2))  # of the source's and the target's sentences


def _sentences(lengths, draw):
    lengths = torch.tensor(lengths)[:, None]
    ids = torch.randint(1, WORDS + 1, (len(lengths), int(lengths.max())), generator=draw)
    return ids * (torch.arange(ids.shape[1]) < lengths)


def _padded(ids, columns=2):
    return torch.cat([ids, ids.new_zeros(len(ids), columns)], 1)


def _other_words(target, t, draw):
    """Other words in place of all words after t."""
    moved = (target - 1 + torch.randint(1, WORDS, target.shape, generator=draw)) % WORDS + 1
    later = (torch.arange(target.shape[1]) > t) & (target != 0)
    return torch.where(later, moved, target)


def _test(
    model,
    lengths=LENGTHS,
    left_out=(),
    same=equal_up_to_rounding,
    at=lambda target: target != 0,
    places=range,
    change=_other_words,
    shown=lambda T, t: torch.arange(T) <= t,
):
    """A test like the solution's, whose promises may be dropped or weakened."""
    draw = torch.Generator().manual_seed(8)
    source, target = (_sentences(each, draw) for each in lengths)
    kept, T = at(target), target.shape[1]
    pairs = []
    if "source" not in left_out:
        pairs.append(lambda: (model(_padded(source), target), kept))
    if "target" not in left_out:
        pairs.append(lambda: (model(source, _padded(target))[:, :T], kept))
    if "batch" not in left_out:
        pairs.append(lambda: (torch.cat([model(s[None], t[None]) for s, t in zip(source, target, strict=True)]), kept))
    if "later" not in left_out:
        pairs += [lambda t=t: (model(source, change(target, t, draw)), kept & shown(T, t)) for t in places(T - 1)]
    before = model(source, target)
    for pair in pairs:
        after, compared = pair()
        if after.shape != before.shape or not same(before[compared], after[compared]):
            return False
    return True


_mistaken = MistakenTests(task, _test)


_mistaken("runs_at_all", same=lambda a, b: True)
_mistaken.by_comparing(0.3)
_mistaken("padding_compared", at=lambda target: torch.ones_like(target, dtype=torch.bool))
_mistaken("first_place_of_each_sentence", at=lambda target: (torch.arange(target.shape[1]) == 0).expand(target.shape))
_mistaken("same_lengths", lengths=((5, 5, 5), (4, 4, 4)))
_mistaken("one_sentence", lengths=((5,), (4,)))
_mistaken("word_itself_changed", change=lambda target, t, draw: _other_words(target, t - 1, draw))
_mistaken(
    "earlier_words_changed",
    change=lambda target, t, draw: torch.where(
        torch.arange(target.shape[1]) <= t, _other_words(target, -1, draw), target
    ),
    shown=lambda T, t: torch.arange(T) > t,
)
_mistaken("behind_one_place", places=lambda count: range(count - 1, count))

LEFT_OUT = ("source", "target", "batch", "later")  # what a test may leave out

_mistaken.without(LEFT_OUT, 2, lambda parts: {"left_out": parts})
