"""What the tasks on a look at the source share: masks with gaps, cases, properties and steps. Their mistakes are in `shared/look.md`.

A look takes scores of annotations B×S×E and a mask B×S to (context B×E, weights B×S).
"""

import torch

from course_lessons.shared.padding import gaps, scattered, with_garbage, without_garbage
from course_lessons.shared.weight_properties import no_weight_is_negative, nothing_where_masked, rows_sum_to_one
from course_utils.base.words import count
from course_utils.checks.task import Case, sizes


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


# The steps

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
