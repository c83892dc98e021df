"""Task 01.sum_vectors: the sum of a sentence's word vectors."""

from operator import mul

import torch

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "01.sum_vectors",
    "the sum of a sentence's word vectors",
    arguments=("words B×S×D", "mask B×S"),
    result="sums B×D",
    difficulty=2,
    importance=5,
    minutes=10,
    hints=(
        "Sentences of different lengths share one tensor, so the short ones are padded. The padding must not change the sum.",
        (
            "Take one sentence with the vectors [1, 2], [3, 4] and [9, 9] and the mask True, True, False. With the padding set to zero, the "
            "vectors are [1, 2], [3, 4] and [0, 0], and their sum is [4, 6]."
        ),
        "Give the mask a third axis of size 1 so that it lines up with B×S×D; use it to turn the padding into zeros; then sum over axis 1.",
    ),
    partial=SIDE_EFFECT,
)


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of up to {S} words, width {D}"
        yield Case(
            name, (draw.numbers(B, S, D) + 0.25, draw.lengths_mask(B, S)), size.full
        )  # no 0: a mask shows on all
    yield Case(
        "a sentence of padding only", (draw.numbers(2, 3, 2), torch.tensor([[True] * 3, [False] * 3])), edge=True
    )
    yield Case(
        "the first sentence is the shorter one",
        (draw.numbers(2, 3, 2) + 0.25, torch.tensor([[True, False, False], [True] * 3])),
    )
    yield Case(
        "a batch that is wider than its longest sentence",
        (draw.numbers(2, 3, 2) + 0.25, torch.tensor([[True, True, False], [True, False, False]])),
    )
    front = torch.tensor([[True, True, True], [False, True, True]])
    yield Case("padding in front", (draw.numbers(2, 3, 2) + 0.25, front), edge=True)
    yield Case("sentences of one word, width 1", (draw.numbers(2, 1, 1), torch.ones(2, 1) > 0), edge=True)


@task.steps
def _(words, mask):
    kept = yield "the words without padding", mul, words, mask[..., None]
    sums = yield "the sums", lambda kept: kept.sum(1), kept
    return sums


# The mask

task.changed_each(
    ("padding_added", "You also add the padding: the mask has no effect. A sentence's sum then depends on how long the other sentences in its batch are.", {"mask": torch.ones_like}),
    ("padding_after_the_longest_left_out", "You leave out only what comes after the longest sentence in the batch. Each sentence has its own padding: the mask says where it is.", {"mask": lambda mask: torch.arange(mask.shape[1]).expand(mask.shape) < mask.sum(1).max()}),
    ("mask_inverted", "Your mask is inverted: True marks a word, but you keep the padding instead.", {"mask": torch.logical_not}),
    ("padding_at_the_end_assumed", "You count the words and add up that many vectors from the start. That is right only where the padding is at the end. The mask says which positions contain words.", {"mask": lambda mask: torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)}),
)  # fmt: skip

task.changed(
    "mask_without_third_axis",
    "`words * mask` lines the mask up with the last two axes, words and features (S×D). But the mask belongs to sentences and words (B×S): give it a third axis, `mask[..., None]`. Without it, this runs only if the sizes happen to fit, and may then give an incorrect result.",
    {"the words without padding": lambda words, _, *, mask: words * mask},
)
task.changed(
    "new_axis_in_the_middle",
    "`mask[:, None]` is B×1×S and lines the mask up with the last axis of words, the features. The mask belongs to the words: the new axis has to come last, `mask[..., None]`, which is B×S×1. With the axis in the middle, this runs only if the sizes happen to fit, and may then give an incorrect result.",
    {"the words without padding": lambda words, _, *, mask: words * mask[:, None]},
)


# The sums

task.changed_each(
    ("mean_over_padding", "You divide by the padded length, which gives a mean over words and padding. Return the sum.", {"the sums": lambda kept: kept.mean(1)}),
    ("added_over_batch", "You sum over the sentences in the batch. Each sentence has its own sum: sum over its words, axis 1.", {"the sums": lambda kept: kept.sum(0)}),
    ("added_over_width", "You sum over the features, the last axis. Sum over the words, axis 1.", {"the sums": lambda kept: kept.sum(2)}),
    ("all_sentences_together", "You add up all sentences together, as happens after `words[mask]`. Each sentence has its own sum: turn the padding into zeros, then sum over axis 1.", {"the sums": lambda kept: kept.sum((0, 1))}),
    ("axis_kept", "Your sums keep an axis of size 1 where the words were, as keepdim=True does. Return B×D, without that axis.", {"the sums": lambda kept: kept.sum(1, keepdim=True)}),
    ("mean_of_words", "You divide by the number of words, which gives the mean. Return the sum.", {"the sums": lambda kept, *, mask: kept.sum(1) / mask.sum(1, keepdim=True)}),
    ("divided_by_all_words", "You divide by `mask.sum()`, the number of words in the whole batch. Return the sum itself, without dividing it.", {"the sums": lambda kept, *, mask: kept.sum(1) / mask.sum()}),
)  # fmt: skip
