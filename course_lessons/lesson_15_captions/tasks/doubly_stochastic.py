"""Task 15.doubly_stochastic: the penalty on cells that a caption looks at too little, or too much."""

from operator import sub

import torch

from course_lessons.shared.padding_mistakes import lengths_below, mask_mistakes, scattered, with_garbage, words_first
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "15.doubly_stochastic",
    "every cell gets its share",
    arguments=("weights B×T×L", "mask B×T"),
    result="penalty",
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "The softmax makes the weights of one step add up to 1 over the cells. The penalty looks at the other sum: the total that one cell gets over all steps of a caption should be near 1. The sum you need first therefore runs over the steps; after that, take the squares and add them up over the cells.",
        "Take a picture of two cells and a caption of two words with the weights [1, 0] and [0.5, 0.5]. Over both steps, the first cell gets 1.5 and the second 0.5; both are off by 0.5, so the penalty is 0.25 + 0.25 = 0.5. For a second caption of one word with the weights [1, 0], followed by padding, it is (1 - 1)² + (1 - 0)² = 1. The mean of both is 0.75.",
        "kept = weights with zeros at the steps where mask is False; total = sum of kept over the steps, B×L; missing = 1 minus total; return the mean over B of the sum over L of missing squared.",
    ),
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
    kept = yield (
        "the weights of real words",
        lambda w, mask: w.masked_fill(~mask[..., None], 0.0),
        weights,
        mask,
    )
    total = yield "the total of each cell", lambda kept: kept.sum(1), kept
    missing = yield "1 minus the totals", sub, 1, total
    squared = yield "the squared gaps", torch.square, missing
    penalties = yield "the penalty of each caption", lambda squared: squared.sum(1), squared
    mean = yield "the mean over the batch", torch.mean, penalties
    return mean


# The mask

mask_mistakes(
    task,
    "weights at padding count, just as the weights of words do. Leave them out before you sum over the steps.",
    '"is a word", and you add up the weights at padding',
)


def _each_weight(done):
    return (1 - done["the weights of real words"]) ** 2


task.changed_each(
    ("mask_along_the_places", "Your mask is applied to the cells instead of the steps. This runs without an error only if there are as many steps as cells, or one step. Add a last axis of size 1: B×T×1.", {"the weights of real words": lambda weights, mask: weights.masked_fill(~mask[:, None], 0.0)}),
    ("garbage_times_zero", "You multiply the weights at padding by 0. They may be NaN or infinite, and 0 times NaN is NaN: replace them with zeros, using masked_fill or torch.where.", {"the weights of real words": lambda weights, mask: weights * mask[..., None]}),
    ("as_the_authors_write", "This is the line from the prompt with its axes corrected but its other bugs unchanged: padding counts, and the penalty is added up over the captions. Leave padding out, add up over the cells, and take the mean over the captions.", {"mask": torch.ones_like, "the penalty of each caption": lambda squared: squared.sum(0)}),
    # The sum over the steps
    ("sum_over_places", "Your first sum runs over the cells of each step, where the softmax weights always add up to 1. Add up over the steps, axis 1, so that each cell has its own sum.", {"the total of each cell": lambda kept: kept.sum(2)}),
    ("mean_over_all_steps", "You take the mean over the T steps. A cell then gets its share of a single step and hardly ever comes near 1. Take the sum.", {"the total of each cell": lambda kept: kept.mean(1)}),
    ("mean_over_real_steps", "You take the mean over the steps that are words. A cell then gets its share of a single step and hardly ever comes near 1. Take the sum.", {"the total of each cell": lambda kept, *, mask: kept.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)}),
    # What each cell should get
    ("steps_over_places", "You compare each cell's sum with T / L, which divides the T steps evenly among the cells, as some implementations do. The equation compares with 1.", {"1 minus the totals": lambda one, total, *, mask: mask.shape[1] / total.shape[1] - total}),
    ("words_over_places", "You compare each cell's sum with the number of words divided by L, which divides the caption's words evenly among the cells. That is a sensible variant, but the equation compares with 1.", {"1 minus the totals": lambda one, total, *, mask: mask.sum(1, keepdim=True) / total.shape[1] - total}),
    ("not_squared", "The square is missing: cells that get too much make up for cells that get too little. Square each difference before you add it.", {"the squared gaps": left_out}),
    ("absolute", "You use the absolute difference from 1. Square the difference instead.", {"the squared gaps": torch.abs}),
    ("one_minus_the_square", "You square the sum and subtract it from 1. Subtract first, then square: brackets are missing.", {"1 minus the totals": lambda one, total: total, "the squared gaps": lambda total: 1 - total**2}),
    # Sum over cells, mean over captions
    ("squared_before_the_sum", "You square 1 minus each weight, step by step. What should come near 1 is the sum over all steps: add up first, then square.", {"the penalty of each caption": lambda squared, *, mask, done: (_each_weight(done) * mask[..., None]).sum((1, 2))}),
    ("as_it_was", "This is the unchanged line from the prompt, which was written for weights T×B×L. Here they are B×T×L, and the line does not use the mask.", {"result": lambda mean, *, weights: ((1 - weights.sum(0)) ** 2).sum(0).mean()}),
    ("one_total_for_the_batch", "You also add up over the captions, so all captions in the batch share one total for each cell. Each caption has its own totals: add up only over its steps.", {"the total of each cell": lambda kept: kept.sum((0, 1))[None], "the mean over the batch": lambda penalties: penalties.sum()}),
    ("gaps_added_before_the_square", "You add up the differences of a caption's cells and square their sum, so that cells with too much make up for cells with too little. Square each difference, then add up.", {"the squared gaps": left_out, "the penalty of each caption": lambda gaps: gaps.sum(1) ** 2}),
    ("summed_over_captions", "You add up the penalties of the captions, so the result grows with the batch. Take their mean.", {"the mean over the batch": torch.sum}),
    ("one_for_each_caption", "You return a penalty for each caption. Return their mean.", {"the mean over the batch": left_out}),
    ("mean_over_places", "You also take the mean over the cells, as much code does. The equation adds up over the L cells; the mean is only over the captions.", {"the penalty of each caption": lambda squared: squared.mean(1)}),
    ("mean_and_sum_exchanged", "You add up over the captions and take the mean over the cells, as the authors' own code does. The equation does the opposite: the sum over the cells, then the mean over the batch.", {"the penalty of each caption": lambda squared: squared.sum(0)}),
    ("empty_costs_nothing", "In your version, a caption without words costs nothing. Each of its cells got 0 instead of 1, so it costs L.", {"the penalty of each caption": lambda squared, *, mask: squared.sum(1) * mask.any(1)}),
    ("empty_left_out", "You leave captions without words out of the mean. Each of their cells got 0 instead of 1, so such a caption costs L, and it counts among the B captions.", {"the mean over the batch": lambda costs, *, mask: (costs * mask.any(1)).sum() / mask.any(1).sum().clamp(min=1)}),
    ("divided_by_words", "You divide by the number of words in the batch. Divide by the number of captions.", {"the mean over the batch": lambda penalties, *, mask: penalties.sum() / mask.sum().clamp(min=1)}),
)  # fmt: skip
