"""Locations for the cases of this lesson's tasks. No task is declared here."""

import torch


def at_pixels(rows, columns, height, width, fractions=None, dtype=torch.float32):
    """Return the locations, B×2, a quarter behind the upper left corners of these pixels, or as far behind as `fractions`, B×2 as (x, y), say."""
    fractions = torch.full((len(rows), 2), 0.25) if fractions is None else fractions
    places = torch.stack([columns, rows], 1).double() + fractions
    return (2 * places / torch.tensor([width, height]) - 1).to(dtype)


def between_edges(draw, B, height, width, dtype=torch.float32):
    """Return locations anywhere in an image, B×2, at a quarter or three quarters of a pixel, so that no rounding moves them to another one.

    The first two differ in both fractions. Where there are two or more, the first lies near the upper left of the image and the second near
    its lower right.
    """
    rows, columns = draw.whole(0, height, B), draw.whole(0, width, B)
    fractions = draw.whole(0, 2, B, 2) / 2 + 0.25
    if B > 1:
        aside = draw.whole(0, 2, 2)  # not the same pixels for every seed
        rows[:2] = torch.stack([torch.tensor(0), (height - 1 - aside[0]).clamp(min=0)])
        columns[:2] = torch.stack([(1 + aside[1]).clamp(max=width - 1), torch.tensor(width - 1)])
        fractions[:2] = torch.tensor([[0.75, 0.25], [0.25, 0.75]])
    return at_pixels(rows, columns, height, width, fractions, dtype)
