"""What tasks on padded sentences share: lengths, masks, what may be at padding, and the mistakes of whoever leaves padding out."""

import torch


def lengths_below(draw, B, S):
    """Return B lengths from 1, different from each other. None is S, unless there are S sentences or more."""
    return draw.distinct(B, 1, max(S, B + 1))


def words_first(lengths, S):
    """Return the mask B×S that is True at the words, which come first: lengths B."""
    return torch.arange(S) < lengths[:, None]


def with_garbage(numbers, mask):
    """Return numbers B×S×D with NaN and infinity at the False places of a mask B×S."""
    garbage = torch.tensor([torch.nan, torch.inf, -torch.inf]).repeat(numbers.numel())[: numbers.numel()]
    return torch.where(mask[..., None], numbers, garbage.reshape(numbers.shape).to(numbers.dtype))


def mask_mistakes(task, unused, inverted, one="caption", lengths=True):
    """Declare the mistakes of a task with an argument `mask`, a row for each caption or story, True where there is a word or a fact.

    Args:
        task: its `steps` use the mask as it comes.
        unused: what padding then does, and what to do about it, as sentences.
        inverted: what True means, and what is done with padding in its place: '"is a word", and you look at padding alone'.
        one: what a row is the mask of.
        lengths: whether False may come before True, so that counting is a mistake.
    """
    of = {
        "mask_unused": (f"The mask has no effect: {unused}", torch.ones_like),
        "mask_inverted": (f"The mask is the wrong way round: True means {inverted}.", torch.logical_not),
        "first_mask_for_all": (
            f"You use the first {one}'s mask for all of them. Each {one} has its own.",
            lambda mask: mask[:1].expand_as(mask),
        ),
        "mask_as_lengths": (
            "You count the True values of a mask and use that many steps from the start. False may come before True: leave out the steps where the mask is False.",
            lambda mask: torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True),
        ),
    }
    for name, (sentence, change) in of.items():
        if lengths or name != "mask_as_lengths":
            task.changed(name, sentence, {"mask": change})


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
