"""What the tasks on a look at the source share: masks with gaps, cases, properties, steps, and the mistakes.

A look takes scores of annotations B×S×E and a mask B×S to (context B×E, weights B×S).
"""

import torch

from course_lessons.shared.mask_mistakes import filled, masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.padding_mistakes import gaps, scattered, with_garbage, without_garbage
from course_lessons.shared.weight_properties import no_weight_is_negative, nothing_where_masked, rows_sum_to_one
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import count, sizes


def least_apart(value, of, annotations, mask):
    """Return how far a value is from of(annotations) at most, with annotations as they are or with zeros at padding: whichever is nearer."""
    return min((value - of(a)).abs().max() for a in (annotations, without_garbage(annotations, mask)))


def look_cases(draw, inputs, letter, more=()):
    """Give the cases of a look; `inputs(draw, B, S, H, E, a further width, mask)` draws states, annotations, mask and weights.

    `letter` is that of the further width; `more` has names and dimensions of other cases.
    """
    for size in sizes(B=3, S=5, H=7, E=11, X=13):
        S = size.S if size.full else size.S + 1  # so that two real places may share a weight
        dims = (size.B, S, size.H, size.E, size.X)
        name = (
            f"{count(size.B, 'sentence')} of {count(S, 'position')}, widths H={size.H}, E={size.E}, {letter}={size.X}"
        )
        yield Case(f"{name}, no padding", inputs(draw, *dims, torch.ones(size.B, S, dtype=torch.bool)), size.full)
        yield Case(f"{name}, with padding", inputs(draw, *dims, gaps(draw, size.B, S)), size.full)
    yield Case("padding anywhere in a sentence", inputs(draw, 3, 5, 2, 3, 2, scattered(draw)))
    several = (
        (f"H, E and {letter} all 5", (2, 3, 5, 5, 5)),
        *more,
        ("as many sentences as positions", (3, 3, 2, 5, 7)),
    )
    for name, dims in several:
        yield Case(name, inputs(draw, *dims, gaps(draw, *dims[:2])))
    one = torch.ones(1, 1, dtype=torch.bool)
    yield Case("a single position, widths of 1", inputs(draw, 1, 1, 1, 1, 1, one), True, edge=True)
    empty = gaps(draw, 3, 5)
    empty[1] = False
    yield Case("a sentence without words", inputs(draw, 3, 5, 7, 11, 13, empty), True, hazard=True)
    state, annotations, mask, *weights = inputs(draw, 3, 5, 7, 11, 13, scattered(draw))
    behind = with_garbage(annotations, mask)
    yield Case("NaN and infinity at padding", (state, behind, mask, *weights), True, hazard=True)
    yield Case("200 positions", inputs(draw, 2, 200, 3, 5, 7, gaps(draw, 2, 200)), edge=True)


# Properties


def properties(task):
    """Register what holds for the weights of every look."""
    task.property(rows_sum_to_one)
    task.property(no_weight_is_negative)
    task.property(weight_where_the_mask_is_true)


def weight_where_the_mask_is_true(case, value):
    """No weight where the mask is False."""
    weights, mask = value[1], case.args[2]
    both = mask.any(1) & ~mask.all(1)
    if both.any() and (weights[both] * mask[both]).abs().max() < 1e-6 and (weights[both].sum(1) > 0.5).all():
        return "All weight is where the mask is False, and none where it is True: the mask is the wrong way round."
    return nothing_where_masked(weights, mask)


# The steps, and the mistakes that they invite

CLEAN, SCORES, MASKED = "the annotations with zeros at padding", "the scores", "the masked scores"
SOFTMAX, WEIGHTS, PARTS, CONTEXT = "the softmax", "the weights", "the weighted annotations", "the context"


def looking(scores, annotations, mask):
    """The steps from scores to context and weights; the annotations have zeros at padding."""
    masked = yield MASKED, lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    softmax = yield SOFTMAX, lambda masked: masked.softmax(-1), masked
    weights = yield WEIGHTS, lambda softmax, mask: softmax.masked_fill(~mask, 0.0), softmax, mask
    parts = yield PARTS, lambda weights, h: weights[..., None] * h, weights, annotations
    context = yield CONTEXT, lambda parts: parts.sum(1), parts
    return context, weights


EMPTY = "In a row with no True, nothing may be attended to: return zeros for the weights and the context."
GARBAGE = "What is at a False position may be NaN or infinite, and 0 times NaN is NaN: a weight of 0 does not keep it out. Replace these annotations with zeros before you compute anything."
INVERTED = (
    'The mask is used the wrong way round: True means "may be attended to", but those are the positions that you hide.'
)
MISTAKES = {
    "mask_unused": (
        "The mask has no effect: padding gets weight, just as words do.",
        {"mask": torch.ones_like},
    ),
    "mask_inverted_nan": (
        f"{INVERTED} If a sentence has padding, all its weight is there; if it has none, the softmax of nothing but -inf gives NaN.",
        {"mask": torch.logical_not, CLEAN: left_out, WEIGHTS: left_out},
    ),
    "mask_inverted_level": (
        f"{INVERTED} If a sentence has padding, all its weight is there; if it has none, all its scores become equal, and each word gets the same weight.",
        {"mask": torch.logical_not, CLEAN: left_out, MASKED: filled(-1e9), WEIGHTS: left_out},
    ),
    "mask_as_lengths": (
        "You count the True values in each row and attend to that many positions from the left. The mask may have gaps: attend wherever it is True.",
        {"mask": lambda mask: torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)},
    ),
    "masked_after": (
        "The mask comes after the softmax, so the remaining weights no longer sum to 1. Mask the scores before the softmax.",
        {CLEAN: left_out, MASKED: left_out},
    ),
    "over_the_batch": (
        "Your softmax runs over the batch, so sentences compete with one another. Each sentence spreads its weight over its own words, the last axis.",
        {SOFTMAX: lambda masked: masked.softmax(0)},
    ),
    "over_one_number": (
        "All your weights are 1, because the softmax of a single number is 1. Yours runs along an axis of size 1; let it run along the source words, S.",
        {SOFTMAX: lambda masked: masked[..., None].softmax(-1)[..., 0]},
    ),
    "equal_weights": (
        "All real positions get the same weight, so your context is a plain mean of the annotations. The scores should differ from position to position and determine the weights.",
        {SOFTMAX: lambda masked: masked.masked_fill(masked > -torch.inf, 0.0).softmax(-1)},
    ),
    "scores_returned": (
        "You return the scores as your second result. Return the weights.",
        {"result": lambda first, weights, *, done: (first, done[SCORES])},
    ),
    "fill_undercut": (
        "If all real scores of a row are very low, its weights become zeros. Masked scores that become a finite number, such as -1000, then get the weight, and so do scores that are masked only after the softmax. Or you subtract the largest score of the whole batch instead of the largest score of each row. Replace masked scores with -inf before the softmax: only -inf is below every score.",
        {MASKED: filled(-1000.0)},
    ),
    "empty_row_mean": (
        f"A sentence without words gets the plain mean of what is at its padding: a very negative but finite number makes all its scores equal. {EMPTY}",
        {CLEAN: left_out, MASKED: filled(-1e9), WEIGHTS: left_out},
    ),
    "garbage_times_zero": (GARBAGE, {CLEAN: left_out}),
}


def look_mistakes(task):
    """Declare the mistakes of a look, of a task whose steps give annotations with zeros at padding, scores, and then those of `looking`."""
    masked_softmax_mistakes(
        task,
        *("mask_inverted", "no_softmax", "empty_row_nan", "empty_row_uniform", "overflow"),
        one="A state",
        others="positions",
        nothing=EMPTY,
        zeros=WEIGHTS,
    )
    plus_infinity_mistakes(task, weights_returned=True, others="positions", zeros=WEIGHTS)
    for name, mistake in MISTAKES.items():
        task.changed(name, *mistake)
