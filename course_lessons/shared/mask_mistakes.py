"""The mistakes that a softmax with a mask invites wherever it occurs, as changes of its steps, said in a lesson's words."""

import torch

from course_utils.checks.reference_trace import left_out


def filled(number):
    """Take the place of the masked scores: a number where -inf should be."""

    def masked(scores, mask, *, right):
        hidden = right(scores, mask)
        return hidden.masked_fill(hidden == -torch.inf, number)

    return masked


def exponentials(scores):
    """Take the place of the softmax: by hand, without subtracting the maximum."""
    e = scores.exp()
    return e / (e.sum(-1, keepdim=True) + 1e-30)


def masked_softmax_mistakes(
    task,
    *names,
    one="A query",
    others="keys",
    nothing="Return zeros there.",
    masked="the masked scores",
    softmax="the softmax",
    zeros="the weights with zeros",
    inverted="",
):
    """Declare mistakes of a masked softmax.

    Args:
        task: its `steps` give, in this order, masked scores (-inf where the mask is False), their softmax, and these weights with zeros where the mask is False.
        names: which mistakes, of those below; all of them if none is named.
        one, others: what asks and what is asked, as in "A query" and "keys".
        nothing: what is right for one that may attend to nothing, as a sentence: "Return zeros there."
        masked, softmax, zeros: the words of the three steps; None for one that the task's way lacks.
        inverted: what else is said of a mask that is used the wrong way round.
    """
    wrong_way = f'The mask is used the wrong way round: True means "may attend", but those are the {others} that you hide. {inverted}'.strip()
    no_infinity = {masked: filled(0.0), zeros: left_out}
    known = {
        "mask_unused": ("The mask has no effect.", {masked: left_out, zeros: left_out}),
        "mask_inverted": (wrong_way, {"mask": torch.logical_not}),
        "mask_inverted_nan": (
            f"{wrong_way} {one} that may attend to all {others} then has nothing left, and the softmax of nothing but -inf gives NaN.",
            {"mask": torch.logical_not, zeros: left_out},
        ),
        "mask_inverted_level": (
            f"{wrong_way} {one} that may attend to all {others} then has equal scores, and gives each the same weight.",
            {"mask": torch.logical_not, masked: filled(-1e9), zeros: left_out},
        ),
        "masked_after": (
            "The mask comes after the softmax, so the remaining weights no longer sum to 1. Mask the scores before the softmax.",
            {masked: left_out},
        ),
        "masked_with_zeros": (
            "Masked scores become 0 or nearly 0 (-1e-9 is a tiny number, not a very negative one). exp(0) = 1 is a weight like any other. Use -inf.",
            no_infinity,
        ),
        "mask_added": (
            "You add the mask to the scores as 0 and 1. A score that is higher by 1 gets 2.7 times the weight, and no weight becomes 0. Replace the scores with -inf where the mask is False.",
            {masked: lambda scores, mask, *, right: scores + (right(scores, mask) > -torch.inf), zeros: left_out},
        ),
        "mask_added_inverted": (
            "You add 0 and 1 to the scores, with 1 where the mask is False: what should be hidden gets more weight. Replace the scores with -inf where the mask is False.",
            {masked: lambda scores, mask, *, right: scores + (right(scores, mask) == -torch.inf), zeros: left_out},
        ),
        "no_softmax": (
            "You use the scores as weights: the softmax is missing.",
            {masked: filled(0.0), softmax: left_out},
        ),
        "equal_weights": (
            f"All {others} that may be attended to get the same weight, so each context is a plain mean of the values. The scores should determine the weights.",
            {softmax: lambda scores: scores.masked_fill(scores > -torch.inf, 0.0).softmax(-1)},
        ),
        "empty_row_nan": (
            f"{one} with nothing to attend to gives NaN, because 0 is divided by 0. {nothing}",
            {zeros: left_out},
        ),
        "empty_row_uniform": (
            f"{one} with nothing to attend to spreads its weight over everything that it should not see, because a very negative but finite number makes all its scores equal. {nothing}",
            {masked: filled(-1e9), zeros: left_out},
        ),
        "fill_undercut": (
            f"Masked scores still count: you only lower them to a finite number, such as -1000, or you mask after the softmax or after the maximum. If genuine scores are far lower, the masked {others} take the weight. Set masked scores to -inf first.",
            {masked: filled(-1000.0)},
        ),
        "overflow": (
            "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.softmax handles scores of any size; by hand, subtract each row's largest score first.",
            {softmax: exponentials},
        ),
    }
    for name in names or known:
        sentence, changes = known[name]
        task.changed(name, sentence, {step: change for step, change in changes.items() if step})


def plus_infinity_mistakes(
    task,
    weights_returned=False,
    others="keys",
    masked="the masked scores",
    softmax="the softmax",
    zeros="the weights with zeros",
):
    """Declare what comes of +inf where a masked score should be -inf; the arguments are those of `masked_softmax_mistakes`.

    Args:
        weights_returned: whether the task returns the weights, so that one sees which of them are NaN.
    """
    said = f"Masked scores become +inf. Its exponential is infinite, and infinity divided by infinity is NaN wherever one of the {others} is masked. Put -inf there: its exponential is 0."
    infinite = {masked: filled(torch.inf)}
    task.changed("plus_infinity", said, infinite | ({zeros: left_out} if zeros else {}))
    if weights_returned:
        task.changed(
            "plus_infinity_then_zeros",
            f"{said} The zeros that you put in afterwards come too late: the remaining weights are NaN already.",
            infinite,
        )
    task.changed(
        "plus_infinity_hidden",
        f"{said} Replacing NaN with 0 only hides this: the {others} that are not masked should get weights that sum to 1.",
        infinite | {softmax: lambda scores: scores.softmax(-1).nan_to_num()},
    )
