"""What the tasks on padded sentences share: lengths, masks whose words come first, and what may come after the words."""

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
