"""Task 15.pointing_accuracy: how often a word's largest weight is at the cell of what the word names."""

from operator import truediv

import torch

from course_lessons.shared.padding_mistakes import lengths_below, mask_mistakes, scattered, with_garbage, words_first
from course_lessons.shared.partial_credit import EDGE
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "15.pointing_accuracy",
    "how often a word points to what it names",
    arguments=("weights B×T×L", "true B×T", "mask B×T"),
    result="share",
    difficulty=2,
    importance=4,
    minutes=15,
    hints=(
        "A word points to the cell of its largest weight. Compare that cell with the true cell for each real step of the batch. All real steps count equally, whichever caption they are in, and padding counts as neither correct nor incorrect.",
        "Take a caption of two words with the weights [0.7, 0.2, 0.1] and [0.1, 0.3, 0.6] and the true cells 0 and 1, and a caption of a single word with [0.2, 0.5, 0.3] and the true cell 1, followed by padding. The words point to 0, 2 and 1, so two of three are correct and the share is 2 / 3 = 0.6667. Divided by all 4 steps, it would be 0.5; the mean of the captions' shares would be (0.5 + 1) / 2 = 0.75.",
        "pointed = the cell of the largest weight along the last axis, B×T; correct = pointed is equal to true, and mask is True; return the number of True values in correct, divided by their number in mask, or 0 if mask has none.",
    ),
    partial=EDGE
    | {
        "looked_up_everywhere": (0.5, "correct if the cells at padding are cells of the picture."),
    },
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


@task.steps
def _(weights, true, mask):
    pointed = yield "the cells pointed to", lambda weights: weights.argmax(-1), weights
    hits = yield "the hits", lambda pointed, true: (pointed == true).double(), pointed, true
    right = yield "the number of hits", lambda hits, mask: (hits * mask).sum(), hits, mask
    steps = yield "the number of words", lambda mask: mask.sum().clamp(min=1), mask
    share = yield "the share", truediv, right, steps
    return share.item()


def _at_true(weights, true):
    return weights.gather(-1, true.long().clamp(0, weights.shape[-1] - 1)[..., None])[..., 0]


mask_mistakes(
    task,
    "padding is counted along with the words. Count only the real steps, both in the hits and in the number you divide by.",
    '"is a word", and you look only at padding',
)


task.changed_each(
    # Where a word points
    ("largest_over_the_steps", "You look for the largest weight along the steps, which finds the step at which each cell gets the most weight. This runs without an error only if there are as many steps as cells, or one step. Look along the last axis.", {"the cells pointed to": lambda weights: weights.argmax(1)}),
    ("centre_of_mass", "You take the mean of the cells, weighted by the weights, and round it. Two distant cells then give a cell in between, at which the word does not look. Take the cell with the largest weight.", {"the cells pointed to": lambda weights: ((weights.nan_to_num() * torch.arange(weights.shape[-1])).sum(-1).round())}),
    ("above_half", "In your version, a word counts as correct only if more than half of its weight lies at the true cell. The largest weight may be smaller than that.", {"the hits": lambda pointed, true, *, weights: _at_true(weights, true) > 0.5}),
    ("weight_at_the_true_place", "You return the mean weight at the true cell, not how often the largest weight is there. Count words: each is either correct or incorrect.", {"the hits": lambda pointed, true, *, weights: _at_true(weights, true)}),
    ("looked_up_everywhere", "You look up the weight at the true cell of every step, padding included. There, `true` may contain anything, including numbers that are not cells of the picture. Compare cells, or leave padding out first.", {"the hits": lambda pointed, true, *, weights: weights.gather(-1, true.long()[..., None])[..., 0] == weights.amax(-1)}),
    ("smallest_weight", "In your version, a word points to the cell of its smallest weight. It should point to the cell of its largest weight.", {"the cells pointed to": lambda weights: weights.argmin(-1)}),
    ("cells_counted_from_1", "You count cells from 1. Count them from 0, as `argmax` does.", {"the cells pointed to": lambda weights: weights.argmax(-1) + 1}),
    ("neighbours_count", "In your version, a cell next to the true one counts as correct. Only the true cell is correct.", {"the hits": lambda pointed, true: ((pointed - true).abs() <= 1).double()}),
    ("among_the_best_two", "In your version, a word counts as correct if the true cell has one of its two largest weights. It points only to the cell with the largest weight.", {"the hits": lambda pointed, true, *, weights: (weights.topk(min(2, weights.shape[-1]), -1).indices == true[..., None]).any(-1).double()}),
    # What counts
    ("share_of_wrong_words", "You return the share of incorrect words. Return the share of correct words.", {"the hits": lambda pointed, true: (pointed != true).double()}),
    ("number_of_right_words", "You return how many words are correct. Divide by the number of words.", {"the share": left_out}),
    ("percent", "You return a percentage. Return a share, from 0 to 1.", {"result": lambda share: 100 * share}),
    ("divided_by_captions", "You divide by the number of captions. Divide by the number of real words in all of them.", {"the number of words": len}),
    ("divided_by_steps", "You divide by the number of steps of a caption. Divide by the number of real words in all captions.", {"the number of words": lambda mask: mask.shape[1]}),
    ("whole_captions", "In your version, a caption counts as correct only if all of its words are. Count words: each one is correct or incorrect on its own.", {"result": lambda share, *, weights, true, mask: ((weights.argmax(-1) == true) | ~mask).all(1).double().mean().item()}),
    ("last_words_alone", "You look only at the last word of each caption. All real words count.", {"mask": lambda mask: mask & (mask.cumsum(1) == mask.sum(1, keepdim=True))}),
    ("first_words_alone", "You look only at the first word of each caption. All real words count.", {"mask": lambda mask: mask & (mask.cumsum(1) == 1)}),
    ("rounded_down", "`//` rounds the share down, to 0 or 1. Divide with `/`.", {"result": lambda share: share // 1}),
    ("mask_inverted_nan", "Your mask is inverted: you look only at padding, and if there is none, the mean of nothing is NaN. True means \"is a word\".", {"mask": torch.logical_not, "the number of words": torch.sum}),
    ("divided_by_all_steps", "You divide by all B·T steps, so padding counts as incorrect. Divide by the number of real steps.", {"the number of words": torch.numel}),
    ("nothing_gives_nan", "If the whole batch has no word, you divide 0 by 0 or take the mean of nothing, which is NaN. Return 0 in that case.", {"the number of words": torch.sum}),
    ("padding_counted_above", "If `true` at padding happens to agree with the largest weight there, you count it as correct: the mask affects only the number that you divide by. Also leave padding out of the hits.", {"the number of hits": lambda hits, mask: hits.sum()}),
    ("padding_counts_as_right", "Padding counts as correct, both in the hits and in the number you divide by. That happens if you fill the padded steps of both the cells pointed to and the true cells with the same number and take the mean over all steps. Leave padding out of the count.", {"the number of hits": lambda hits, mask: hits.where(mask, 1.0).sum(), "the number of words": torch.numel}),
    ("mean_of_captions", "You take the share of each caption and then the mean of these shares, so a word counts for more in a short caption than in a long one. Count the correct words in the whole batch and divide once.", {"the number of hits": lambda hits, mask: ((hits * mask).sum(1) / mask.sum(1).clamp(min=1)).sum(), "the number of words": len}),
    ("nothing_raises", "If the whole batch has no word, you divide by the Python number 0, which raises an error. Return 0 in that case.", {"result": lambda share, *, mask: share if mask.any() else 1 / 0}),
)  # fmt: skip
