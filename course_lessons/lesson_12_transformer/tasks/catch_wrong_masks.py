"""Task 12.catch_wrong_masks: a test that finds models in which padding, other sentences or later words change what they should not."""

import torch

from course_lessons.lesson_12_transformer.tasks._translators import RARE, RIGHT, WRONG, V
from course_lessons.shared.candidate_tests import (
    asking,
    equal_up_to_rounding,
    mistakes_of_comparing,
    mistakes_of_tests,
    one_case_each,
    tests_without,
)
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
    "12.catch_wrong_masks",
    "a test that finds what padding, the batch and later words change",
    arguments=("model",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=4,
    importance=5,
    minutes=30,
    hints=(
        "You need not know how a model works. Four things must change nothing: padding after the source, padding after the target, other sentences in the batch, and later words of the target. For each, call the model twice and compare the logits at the target words that must not be affected.",
        (
            "Take a source sentence whose two words have the vectors [2] and [4], and a model that adds their mean to everything: 3. With padding, whose vector is [0], after them, the mean over all positions is 2, but over the words it is still 3. A test without padding cannot see the difference; sentences of equal length have no padding until you append some."
        ),
        "Make a batch of three source sentences and three target sentences of random words from 1 to 5, of different lengths, with 0 after them. In a `try` that returns False on any exception: before = model(source, target); compare, at words of the target: with two columns of 0 after source; with two columns of 0 after target, up to the old length; each sentence by itself, as a batch of one; and for each t, replace the words of target after t, but not its padding, and compare the positions up to t.",
    ),
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
    try:
        before = model(source, target)
        for pair in pairs:
            after, compared = pair()
            if after.shape != before.shape or not same(before[compared], after[compared]):
                return False
        return True
    except Exception:
        return False


_mistaken = mistakes_of_tests(
    task,
    _test,
    "model",
    "Perhaps an error in the test itself, such as a comparison of tensors of different shapes, ends in `except`, which returns False.",
)


_mistaken(
    "runs_at_all",
    "Every model that runs without an error passes your test, whatever padding, other sentences and later words change. Compare the model's logits for two inputs whose difference should have no effect.",
    same=lambda a, b: True,
)
mistakes_of_comparing(
    _mistaken,
    "model",
    "Correct models are rejected if their last digits differ because a batch or padding makes them sum in a different order.",
    "Models that let a little information through pass your test",
    0.3,
)
_mistaken(
    "padding_compared",
    "Correct models are rejected, since you also compare logits at the target's padding, where they may be anything. Compare only where target is not 0.",
    at=lambda target: torch.ones_like(target, dtype=torch.bool),
)
_mistaken(
    "first_place_of_each_sentence",
    "Your test passes models that fail only after the first word of the target, since you compare logits only at the first position. Compare all positions that contain a word.",
    at=lambda target: (torch.arange(target.shape[1]) == 0).expand(target.shape),
)
_mistaken(
    "same_lengths",
    "Your test passes models that use the mask of one sentence for all, since all your sentences have the same length. Let some be shorter than others, with padding after them.",
    lengths=((5, 5, 5), (4, 4, 4)),
)
_mistaken(
    "one_sentence",
    "Your test passes models that mix up the sentences of a batch, since you never pass them more than one at a time. Compare a batch with its sentences one at a time.",
    lengths=((5,), (4,)),
)
_mistaken(
    "word_itself_changed",
    "Your test rejects correct models, since it expects the logits at a changed target word to stay the same. They may depend on that word: change the words after t and compare up to t.",
    change=lambda target, t, draw: _other_words(target, t - 1, draw),
)
_mistaken(
    "earlier_words_changed",
    "Your test rejects correct models, since it changes earlier words of the target and looks at later positions. The logits there may depend on earlier words: change the words after t and compare up to t.",
    change=lambda target, t, draw: torch.where(
        torch.arange(target.shape[1]) <= t, _other_words(target, -1, draw), target
    ),
    shown=lambda T, t: torch.arange(T) > t,
)
_mistaken(
    "behind_one_place",
    "Your test passes a model in which only the first word sees the second, since you change only the last word, or only words far after it. Change the words after t for each t, from 0 on.",
    places=lambda count: range(count - 1, count),
)

LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "source": ("models in which more padding after the source changes something", "Append columns of 0 to the source and check that the logits stay the same."),
    "target": ("models in which more padding after the target changes something", "Append columns of 0 to the target and compare the logits up to its old length."),
    "batch": ("models that mix up the sentences of a batch or fail on a single sentence", "Also run each sentence of a batch by itself and compare its logits with the ones from the batch."),
    "later": ("models that see later words of the target", "Change the words after t for each t and compare the logits up to t."),
}  # fmt: skip

tests_without(task, LEFT_OUT, lambda parts: lambda model: _test(model, left_out=parts), 2)
