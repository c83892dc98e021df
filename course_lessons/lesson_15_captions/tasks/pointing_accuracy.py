"""Task 15.pointing_accuracy: how often a word's largest weight is at the cell of what the word names."""

import torch

from course_lessons.shared.padding import lengths_below, scattered, with_garbage, words_first
from course_lessons.shared.partial_credit import EDGE
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "how often a word points to what it names",
    arguments=("weights B×T×L", "true B×T", "mask B×T"),
    result="share",
    difficulty=2,
    importance=4,
    minutes=15,
    partial=EDGE | {"looked_up_everywhere": (0.5, "correct if the cells at padding are cells of the picture.")},
)


@task.property
def a_share_lies_between_0_and_1(case, value):
    """No more can be right than there are."""
    value = float(value)
    return f"A share lies between 0 and 1; yours is {value:.4g}." if not -1e-6 <= value <= 1 + 1e-6 else None


@task.property
def words_are_counted(case, value):
    """How many there are, and how many of them are right."""
    weights, true, mask = case.args
    words = int(mask.sum())
    hits = int(((weights.argmax(-1) == true) & mask).sum())
    if not words or abs(float(value) - hits / words) < 1e-4:
        return None
    return f"Of {count(words, 'real word')} here, {hits} {'points' if hits == 1 else 'point'} to the true cell, so the share is {hits}/{words}."


def _weights(draw, B, T, L, dtype=torch.float32):
    """Weights that sum to 1 over the cells, no two of a step alike."""
    counts = torch.stack([draw.distinct(L, 1, 4 * L) for _ in range(B * T)]).view(B, T, L).to(dtype)
    return counts / counts.sum(-1, keepdim=True)


def _inputs(draw, mask, L, dtype=torch.float32):
    """About half of the words are right, the first real one surely, and the last surely wrong where there are two or more of each."""
    weights = _weights(draw, *mask.shape, L, dtype)
    true = weights.argmax(-1)
    true = torch.where(draw.whole(0, 2, *mask.shape) > 0, true, draw.whole(0, L, *mask.shape))
    real = mask.nonzero().tolist()
    if real:
        b, t = real[0]
        true[b, t] = weights[b, t].argmax()
        if len(real) > 1 and L > 1:
            b, t = real[-1]
            true[b, t] = (weights[b, t].argmax() + 1) % L
    return weights, true, mask


@task.cases
def _(draw):
    for size in sizes(B=3, T=5, L=7):
        T = size.T if size.full else size.T + 1  # so that there is padding
        mask = words_first(lengths_below(draw, size.B, T), T)
        name = f"{count(size.B, 'caption')} of {T} steps with padding, {size.L} cells"
        yield Case(name, _inputs(draw, mask, size.L))
    yield Case("5 captions of 7 steps, 3 cells", _inputs(draw, draw.lengths_mask(5, 7), 3))
    every = torch.ones(11, 13, dtype=torch.bool)
    yield Case("no padding", _inputs(draw, every[:5, :11], 3))
    yield Case("as many steps as cells", _inputs(draw, words_first(torch.tensor([7, 4, 2, 5, 1]), 7), 7))
    weights, true, mask = _inputs(draw, scattered(draw), 7)
    right = weights.argmax(-1)
    for row, real in zip(range(3), mask, strict=True):  # the last word is right, and padding before it is wrong
        last = real.nonzero()[-1]
        true[row, last] = right[row, last]
    yield Case("False steps anywhere", (weights, torch.where(mask, true, (right + 1) % 7), mask))
    weights, _, mask = _inputs(draw, words_first(torch.tensor([4, 2, 5]), 5), 3)
    right = weights.argmax(-1)
    yield Case("every word is correct, and padding is not", (weights, torch.where(mask, right, (right + 1) % 3), mask))
    yield Case("no word is correct, and padding is", (weights, torch.where(mask, (right + 1) % 3, right), mask))
    yield Case("a single word and cell", (torch.ones(1, 1, 1), torch.zeros(1, 1).long(), every[:1, :1]), edge=True)
    mask = words_first(torch.tensor([3, 0, 5, 0]), 5)
    yield Case("captions without words", _inputs(draw, mask, 3), edge=True)
    yield Case("no word in the whole batch", _inputs(draw, torch.zeros(2, 3, dtype=torch.bool), 5), hazard=True)
    mask = words_first(torch.tensor([3, 1, 4]), 5)
    weights, true, _ = _inputs(draw, mask, 7)
    outside = torch.tensor([7, -1, 10**6, -100]).repeat(4)[: mask.numel()].view(mask.shape)
    yield Case(
        "true cells outside the picture at padding", (weights, torch.where(mask, true, outside), mask), edge=True
    )
    garbage = with_garbage(weights.flatten(0, 1), mask.flatten()).view(weights.shape)
    # NaN counts as the largest: the true place of padding is where it comes first
    yield Case("NaN and infinity at padding", (garbage, torch.where(mask, true, garbage.argmax(-1)), mask), hazard=True)
    yield Case("200 steps", _inputs(draw, words_first(torch.tensor([200, 127]), 200), 5), edge=True)
    far = torch.stack([draw.distinct(5, -5, 6) for _ in range(6)]).view(2, 3, 5) * 2e3
    mask = words_first(torch.tensor([3, 2]), 3)
    yield Case("numbers of ±10,000", (far, _true(draw, far), mask), hazard=True)


def _true(draw, weights):
    right = weights.argmax(-1)
    return torch.where(draw.whole(0, 2, *right.shape) > 0, right, (right + 1) % weights.shape[-1])
