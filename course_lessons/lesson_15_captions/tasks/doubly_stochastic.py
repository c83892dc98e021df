"""Task 15.doubly_stochastic: the penalty on cells that a caption looks at too little, or too much."""

from operator import sub

import torch

from course_lessons.shared.padding import lengths_below, scattered, with_garbage, words_first
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "every cell gets its share",
    arguments=("weights B×T×L", "mask B×T"),
    result="penalty",
    difficulty=3,
    importance=4,
    minutes=15,
    partial=USUAL
    | {
        "empty_left_out": (0.75, "correct for captions that have a word."),
        "empty_costs_nothing": (0.75, "correct for captions that have a word."),
    },
)


@task.property
def a_sum_of_squares_is_not_negative(case, value):
    """Nor is its mean."""
    return f"A sum of squares is never below 0; yours is {value:.4g}." if value < -1e-6 else None


def _shares(draw, B, T, L, dtype=torch.float32):
    """Weights that sum to 1 over the cells, none of them 0."""
    counts = draw.whole(1, 6, B, T, L).to(dtype)
    return counts / counts.sum(-1, keepdim=True)


@task.cases
def _(draw):
    for size in sizes(B=3, T=5, L=7):
        T = size.T if size.full else size.T + 1  # so that there is padding
        mask = words_first(lengths_below(draw, size.B, T), T)
        name = f"{count(size.B, 'caption')} of {T} steps with padding, {size.L} cells"
        yield Case(name, (_shares(draw, size.B, T, size.L), mask), size.full)
    every = torch.ones(5, 7, dtype=torch.bool)
    yield Case("no padding", (_shares(draw, 3, 5, 2), every[:3, :5]), True)
    mask = draw.lengths_mask(5, 7)
    yield Case("as many steps as cells", (_shares(draw, 5, 7, 7), mask))
    yield Case("as many captions as steps", (_shares(draw, 3, 3, 5), words_first(torch.tensor([2, 1, 3]), 3)))
    yield Case("False steps anywhere", (_shares(draw, 3, 5, 2), scattered(draw)), True)
    gated = _shares(draw, 2, 5, 3) * draw.whole(1, 4, 2, 5, 1) / 4
    yield Case("weights that sum to less than 1", (gated, words_first(torch.tensor([4, 2]), 5)))
    looks = torch.nn.functional.one_hot(draw.whole(0, 3, 2, 5), 3).float()
    yield Case("steps that look at a single cell", (looks, words_first(torch.tensor([5, 3]), 5)), edge=True)
    yield Case("a single step and cell", (torch.ones(1, 1, 1), every[:1, :1]), edge=True)
    mask = words_first(torch.tensor([2, 0, 4]), 5)
    yield Case("a caption without words", (_shares(draw, 3, 5, 7), mask), True, edge=True)
    nothing = torch.zeros(2, 3, dtype=torch.bool)
    yield Case("no word in the whole batch", (_shares(draw, 2, 3, 5), nothing), True, hazard=True)
    long = words_first(torch.tensor([200, 127]), 200)
    yield Case("200 steps", (_shares(draw, 2, 200, 3), long), True, edge=True)
    yield Case("196 cells", (_shares(draw, 2, 5, 196), words_first(torch.tensor([5, 3]), 5)), True, edge=True)
    mask = words_first(torch.tensor([3, 1, 4]), 5)
    weights = with_garbage(_shares(draw, 3, 5, 7).flatten(0, 1), mask.flatten()).view(3, 5, 7)
    yield Case("NaN and infinity at padding", (weights, mask), True, hazard=True)
    large = draw.distinct(12, -2, 12).view(2, 2, 3) * 1e3
    yield Case("numbers up to 10,000", (large, torch.tensor([[True, True], [True, False]])), True, hazard=True)
    yield Case("float64 numbers", (_shares(draw, 3, 5, 7, torch.float64), mask), True, hazard=True)


@task.oracle
def _(weights, mask):
    zero = torch.zeros((), dtype=weights.dtype)
    penalties = []
    for b in range(len(weights)):
        steps = mask[b].nonzero()[:, 0].tolist()
        for cell in range(weights.shape[2]):
            penalties.append((sum((weights[b, t, cell] for t in steps), zero) - 1) ** 2)
    return sum(penalties) / len(weights)


@task.steps
def _(weights, mask):
    kept = yield ("the weights of real words", lambda w, mask: w.masked_fill(~mask[..., None], 0.0), weights, mask)
    total = yield "the total of each cell", lambda kept: kept.sum(1), kept
    missing = yield "1 minus the totals", sub, 1, total
    squared = yield "the squared gaps", torch.square, missing
    penalties = yield "the penalty of each caption", lambda squared: squared.sum(1), squared
    mean = yield "the mean over the batch", torch.mean, penalties
    return mean
