"""What tasks on padded sentences share: lengths, masks, and what may be at padding. The mistakes of whoever leaves padding out are in `padding.md`."""

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
