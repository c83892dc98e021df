"""What the tasks on a look at the source share: masks with gaps, properties, and the mistakes.

A look takes scores of annotations B×S×E and a mask B×S to (context B×E, weights B×S).
"""

import torch

from course_utils.models.attention import masked_softmax
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one
from course_utils.tasks.shares import USUAL


def gaps(draw, B, S):
    """Return a mask B×S, True at one place at least in each row, and False at one at least where S is above 1."""
    mask = draw.mask(B, S)
    return mask[:, draw.distinct(S, 0, S)]


def scattered(draw):
    """Return a mask 3×5 in which no row has its words first, and each has another number of them."""
    rows = torch.tensor(
        [[False, True, False, True, True], [True, False, False, True, False], [False, True, True, True, True]]
    )
    return rows[draw.distinct(3, 0, 3)]


def without_garbage(annotations, mask):
    """Return annotations with zeros at the False places."""
    return annotations.masked_fill(~mask[..., None], 0.0)


def summed(weights, annotations):
    """Return the weighted sums of annotations: B×E."""
    return (weights[..., None] * annotations).sum(1)


def least_apart(value, of, annotations, mask):
    """Return how far a value is from of(annotations) at most, with annotations as they are or with zeros at padding: whichever is nearer."""
    return min((value - of(a)).abs().max() for a in (annotations, without_garbage(annotations, mask)))


def weights_by_loops(scores, mask):
    """Return the softmax over the True places of each row, one score after another: an oracle's, in float64."""
    rows = []
    for row, kept in zip(scores, mask, strict=True):
        most = row[kept].detach().max() if kept.any() else 0
        shares = [(score - most).exp() if real else 0 * score for score, real in zip(row, kept, strict=True)]
        total = sum(shares)
        rows.append(torch.stack([share / total if kept.any() else share for share in shares]))
    return torch.stack(rows)


SHARES = USUAL | {
    "empty_row_nan": (0.5, "right for every sentence that has a word."),
    "empty_row_uniform": (0.5, "right for every sentence that has a word."),
    "empty_row_reads_padding": (0.5, "right for every sentence that has a word."),
}


# Properties


def properties(task):
    """Register what holds for the weights of every look."""
    task.property(rows_sum_to_one)
    task.property(no_weight_is_negative)
    task.property(nothing_where_masked)


def nothing_where_masked(case, value):
    """No weight where the mask is False."""
    weights, mask = value[1], case.args[2]
    both = mask.any(1) & ~mask.all(1)
    if both.any() and (weights[both] * mask[both]).abs().max() < 1e-6 and (weights[both].sum(1) > 0.5).all():
        return "All weight lies where the mask is False, and none where it is True: the mask is the wrong way round."
    leaked = weights[~mask]
    return (
        f"Where the mask is False the weight should be 0; one of yours is {leaked.max():.4g}. Mask the scores, with -inf: "
        "any finite score, such as -100, may leave some weight."
        if (leaked > 1e-6).any()
        else None
    )


# Mistakes. Each is a function of (score, annotations, mask), where score(annotations) gives scores B×S, that takes the look wrongly.


def _plain_softmax(scores):
    return scores.softmax(-1)


def _filled(number, zeroed=False, clean=True, softmax=_plain_softmax):
    """A look whose masked scores become a number; with zeros for the weights of False places, with what stands there removed."""

    def look(score, annotations, mask):
        annotations = without_garbage(annotations, mask) if clean else annotations
        weights = softmax(score(annotations).masked_fill(~mask, number))
        weights = weights * mask if zeroed else weights
        return summed(weights, annotations), weights

    return look


def _right_but(weights=lambda weights, mask: weights, mask=lambda mask: mask):
    """A look with another mask, or with something done to its weights before the sum."""

    def look(score, annotations, kept):
        other = mask(kept)
        annotations = torch.where((kept | other)[..., None], annotations, 0.0)
        shares = weights(masked_softmax(score(annotations), other), other)
        return summed(shares, annotations), shares

    return look


def _inverted(number, zeros=None, end=lambda weights, mask: weights):
    """A look that hides the scores of the True places, with zeros where `zeros(mask)` is True, and something done to its weights at the end."""

    def look(score, annotations, mask):
        annotations = annotations.masked_fill(zeros(mask)[..., None], 0.0) if zeros else annotations
        weights = end(score(annotations).masked_fill(mask, number).softmax(-1), mask)
        return summed(weights, annotations), weights

    return look


def _no_weight_at_padding(weights, mask):
    return weights.masked_fill(~mask, 0.0)


def _unmasked(score, annotations, mask):
    weights = score(annotations).softmax(-1)
    return summed(weights, annotations), weights


def scores_unmasked(score, annotations, mask):
    return _unmasked(score, without_garbage(annotations, mask), mask)


def _masked_after(score, annotations, mask):
    weights = score(annotations).softmax(-1) * mask
    return summed(weights, annotations), weights


def masked_with_zeros(score, annotations, mask):
    weights = (score(annotations) * mask).softmax(-1)
    return summed(weights, annotations), weights


def _over_the_batch(score, annotations, mask):
    annotations = without_garbage(annotations, mask)
    weights = torch.nan_to_num(score(annotations).masked_fill(~mask, -torch.inf).softmax(0))
    return summed(weights, annotations), weights


def _largest_alone(score, annotations, mask):
    annotations = without_garbage(annotations, mask)
    scores = score(annotations).masked_fill(~mask, -torch.inf)
    weights = torch.zeros_like(scores).scatter(-1, scores.argmax(-1, keepdim=True), 1.0) * mask
    return summed(weights, annotations), weights


def _no_softmax(score, annotations, mask):
    annotations = without_garbage(annotations, mask)
    scores = score(annotations) * mask
    return summed(scores, annotations), scores


def _scores_returned(score, annotations, mask):
    annotations = without_garbage(annotations, mask)
    scores = score(annotations)
    return summed(masked_softmax(scores, mask), annotations), scores


def _garbage_times_zero(score, annotations, mask):
    weights = masked_softmax(score(annotations), mask)
    return summed(weights, annotations), weights


def _garbage_taken_out_late(score, annotations, mask):
    weights = masked_softmax(score(annotations), mask)
    return torch.where(mask[..., None], weights[..., None] * annotations, 0.0).sum(1), weights


def _overflowing(least):
    def look(score, annotations, mask):
        annotations = without_garbage(annotations, mask)
        e = score(annotations).exp() * mask
        weights = e / (e.sum(-1, keepdim=True) + least)
        return summed(weights, annotations), weights

    return look


def _lengths_only(mask):
    return torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)


EMPTY = "In a row without a True nothing may be looked at: return zeros there, for the weights and for the context."
GARBAGE = (
    "What stands at a False place may be NaN or infinite, and 0 times NaN is NaN: a weight of 0 does not keep it out. Put zeros in place of these "
    "annotations before you compute anything."
)
INVERTED = 'The mask is used the wrong way round: True means "may be looked at", and those are the places you hide.'
ALL_THERE = "Where a sentence has padding, all its weight lies there;"
ON_ZEROS = "Where a sentence has padding, all its weight lies on the zeros that you put there;"
NO_WEIGHT = "Where a sentence has padding, no weight is left;"
NAN = "where it has none, the softmax of nothing but -inf gives NaN."
LEVEL = "where it has none, all its scores become the same number, and every word gets the same weight."
SHARED = {
    "mask_unused": ("The mask has no effect: padding gets weight like a word.", _unmasked),
    "mask_inverted": (
        INVERTED,
        _right_but(mask=torch.logical_not),
    ),
    "mask_inverted_nan": (f"{INVERTED} {ALL_THERE} {NAN}", _inverted(-torch.inf)),
    "mask_inverted_level": (f"{INVERTED} {ALL_THERE} {LEVEL}", _inverted(-1e9)),
    "mask_inverted_on_zeros": (
        f"{INVERTED} {ON_ZEROS} where it has none, no weight is left.",
        _inverted(-torch.inf, torch.logical_not, lambda weights, mask: weights.masked_fill(mask, 0.0)),
    ),
    "mask_inverted_on_zeros_nan": (f"{INVERTED} {ON_ZEROS} {NAN}", _inverted(-torch.inf, torch.logical_not)),
    "mask_inverted_on_zeros_level": (f"{INVERTED} {ON_ZEROS} {LEVEL}", _inverted(-1e9, torch.logical_not)),
    "mask_inverted_no_weight_nan": (
        f"{INVERTED} {NO_WEIGHT} {NAN}",
        _inverted(-torch.inf, torch.logical_not, _no_weight_at_padding),
    ),
    "mask_inverted_no_weight_level": (
        f"{INVERTED} {NO_WEIGHT} {LEVEL}",
        _inverted(-1e9, torch.logical_not, _no_weight_at_padding),
    ),
    "mask_inverted_twice": (
        'The mask is used the wrong way round, for the annotations and for the scores: True means "may be looked at", and those are the places you hide.',
        _inverted(-1e9, lambda mask: mask),
    ),
    "mask_as_lengths": (
        "You count the True values in each row and look at that many places from the left. The mask may have gaps: look where it is True, wherever that is.",
        _right_but(mask=_lengths_only),
    ),
    "first_mask_for_all": (
        "You use the first sentence's mask for all sentences. Each has its own row.",
        _right_but(mask=lambda mask: mask[:1].expand_as(mask)),
    ),
    "masked_after": (
        "The mask comes after the softmax, so the remaining weights no longer sum to 1. Take the scores out before the softmax.",
        _masked_after,
    ),
    "over_the_batch": (
        "Your softmax runs over the batch, so sentences compete with one another. Each sentence spreads its weight over its own words, the last axis.",
        _over_the_batch,
    ),
    "over_one_number": (
        "All your weights are 1: the softmax of a single number is 1. It runs along an axis of size 1; let it run along the source words, S.",
        _right_but(weights=lambda weights, mask: weights * 0 + mask.to(weights.dtype)),
    ),
    "equal_weights": (
        "All real places get the same weight, so your context is a plain mean of the annotations. The scores should differ from place to place, and decide.",
        _right_but(weights=lambda weights, mask: weights * 0 + mask / mask.sum(1, keepdim=True).clamp(min=1)),
    ),
    "largest_alone": (
        "You give all weight to the place with the largest score. Give each real place its share with a softmax, which also lets a gradient reach the scores.",
        _largest_alone,
    ),
    "no_softmax": ("You use the scores as weights: the softmax is missing.", _no_softmax),
    "scores_returned": ("As the second part you return the scores. Return the weights.", _scores_returned),
    "empty_row_nan": (
        f"A row without a True gives NaN: the softmax of nothing but -inf is 0/0. {EMPTY}",
        _filled(-torch.inf),
    ),
    "empty_row_uniform": (
        f"In a row without a True, padding shares the weight: a very negative but finite number makes all its scores equal. {EMPTY}",
        _filled(-1e9),
    ),
    "empty_row_reads_padding": (
        f"In a row without a True, padding shares the weight, and is what the context is made of: a very negative but finite number makes all its scores equal. {EMPTY}",
        _filled(-1e9, clean=False),
    ),
    "fill_undercut": (
        "Where all honest scores of a row are very low, its weights come out as zeros. Masked scores that become a finite number, such as -1000, take the weight there, and so do scores that are masked only after "
        "the softmax. Or you subtract the largest score of the whole batch, and not that of each row. Put -inf in place of masked scores before the softmax: only -inf lies below every score.",
        _filled(-1000.0, zeroed=True),
    ),
    "garbage_times_zero": (GARBAGE, _garbage_times_zero),
    "garbage_reaches_the_gradient": (
        "The values are right, but NaN from a False place gets into the gradient: you compute its score or its product with the weight and leave that out afterwards, but the backward pass still runs through it. Put zeros in "
        "place of these annotations before you compute anything.",
        _garbage_taken_out_late,
    ),
    "overflow": (
        "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.softmax takes scores of any size; by hand, subtract each row's largest "
        "real score first.",
        _overflowing(1e-30),
    ),
}


def shared_mistakes(task, score, finish, own):
    """Register the mistakes that every look shares.

    Args:
        task: whose arguments begin with state, annotations and mask; its weights follow.
        score: function(annotations, state, *weights) returns scores B×S.
        finish: function(context, weights, state, *weights) returns what the task asks for.
        own: further mistakes like those in SHARED, with sentences of the task's own.
    """
    for name, (sentence, look) in (SHARED | own).items():

        def mistaken(state, annotations, mask, *weights, look=look):
            context, shares = look(lambda numbers: score(numbers, state, *weights), annotations, mask)
            return finish(context, shares, state, *weights)

        task.mistake(sentence, name)(mistaken)
