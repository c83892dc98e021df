"""Correct answers to 14.glimpse in other styles than the solution's."""

import torch
import torch.nn.functional as F

from course_utils.models.glimpses import corner


def by_pad_for_each(image, location, size, scales):
    """Negative padding crops: one call cuts out a patch and puts zeros around it."""
    patches = []
    for k in range(scales):
        side = size * 2**k
        top, left = corner(location, image.shape[-2], image.shape[-1], side)
        for one, t, l in zip(image, top.tolist(), left.tolist(), strict=True):
            cut = F.pad(one, (-l, l + side - one.shape[1], -t, t + side - one.shape[0]))
            patches.append(F.avg_pool2d(cut[None, None], 2**k)[0, 0])
    return torch.stack(patches).unflatten(0, (scales, len(image))).transpose(0, 1)


def by_area(image, location, size, scales):
    """F.interpolate with mode area takes means of blocks."""
    B, Y, X = image.shape
    room = size * 2**scales
    around = F.pad(image.unsqueeze(1), [room] * 4).squeeze(1)
    result = []
    for k in range(scales):
        side = size << k
        top, left = corner(location, Y, X, side)
        patches = [around[b].narrow(0, int(top[b]) + room, side).narrow(1, int(left[b]) + room, side) for b in range(B)]
        result.append(F.interpolate(torch.stack(patches)[:, None], size=(size, size), mode="area"))
    return torch.cat(result, 1)


def as_beginners_write(image, location, size, scales):
    B, Y, X = image.shape
    out = torch.zeros(B, scales, size, size, dtype=image.dtype)
    for k in range(scales):
        n = 2**k
        side = size * n
        top, left = corner(location, Y, X, side)
        for b in range(B):
            for i in range(size):
                for j in range(size):
                    total = 0.0
                    r0 = int(top[b]) + i * n
                    c0 = int(left[b]) + j * n
                    rows = [r for r in range(r0, r0 + n) if 0 <= r < Y]
                    columns = [c for c in range(c0, c0 + n) if 0 <= c < X]
                    if rows and columns:
                        total = image[b, rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].sum()
                    out[b, k, i, j] = total / (n * n)
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


# PyTorch's own
OWN = [
    by_grid_sample,
    by_pad_for_each,
    by_area,
]
CORRECT = [
    *OWN,
    as_beginners_write,
]
INPUTS = {"scales": lambda draw: draw.randint(1, 3)}
