"""Correct answers to 14.glimpse in other styles than the solution's."""

import torch
import torch.nn.functional as F

from course_utils.models.glimpses import corner


def as_beginners_write(image, location, size, scales):
    B, Y, X = image.shape
    out = torch.zeros(B, scales, size, size, dtype=image.dtype)
    for k in range(scales):
        n = 2**k
        top, left = corner(location, Y, X, size * n)
        for b in range(B):
            for i in range(size):
                for j in range(size):
                    r, c = int(top[b]) + i * n, int(left[b]) + j * n
                    rows, columns = slice(max(r, 0), max(r + n, 0)), slice(max(c, 0), max(c + n, 0))
                    out[b, k, i, j] = image[b, rows, columns].sum() / n**2
    return out


def by_grid_sample(image, location, size, scales):
    """The grid holds the centres of pixels, from -1 to 1; beyond the image there are zeros."""
    (B, Y, X), patches = image.shape, []
    for k in range(scales):
        side = size * 2**k
        top, left = corner(location, Y, X, side)
        rows, columns = (start[:, None] + torch.arange(side) for start in (top, left))  # B side each
        y, x = ((2 * rows + 1) / Y - 1).to(image.dtype), ((2 * columns + 1) / X - 1).to(image.dtype)
        grid = torch.stack([x[:, None].expand(B, side, side), y[:, :, None].expand(B, side, side)], dim=-1)
        pixels = F.grid_sample(image[:, None], grid, mode="nearest", align_corners=False)
        patches.append(F.avg_pool2d(pixels, 2**k))
    return torch.cat(patches, dim=1)


OWN = [by_grid_sample]
CORRECT = [*OWN, as_beginners_write]
INPUTS = {"scales": lambda draw: draw.randint(1, 3)}
