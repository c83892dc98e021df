"""Task 14.glimpse: what the sensor sees of an image, a few patches around a location, each coarser and wider than the one before."""

import torch
import torch.nn.functional as F

from course_lessons.lesson_14_glimpses.tasks._places import at_pixels, between_edges
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.task import Case, Task
from course_utils.models.glimpses import corner

task = Task(
    __name__,
    "a sensor with three faults",
    arguments=("image B×Y×X", "location B×2", "size", "scales"),
    result="patches B×scales×size×size",
    difficulty=4,
    importance=5,
    minutes=30,
    offers=("models.glimpses.corner",),
    partial=USUAL,
)


@task.property
def nothing_is_brighter_than_the_brightest(case, value):
    """A mean lies between the smallest and the largest number, of which zero may be one."""
    image = case.args[0]
    least, most = min(image.min().item(), 0), max(image.max().item(), 0)
    if ((value >= least - 1e-3 * (1 + abs(least))) & (value <= most + 1e-3 * (1 + abs(most)))).all():
        return None
    return f"A cell is a mean of pixels and zeros, so it lies between {least:.4g} and {most:.4g} here; yours range from {value.min():.4g} to {value.max():.4g}."


@task.property
def the_first_patch_shows_pixels_as_they_are(case, value):
    """The middle cell of patch 0 is the pixel that the location names."""
    image, location, size, _ = case.args
    top, left = corner(location, *image.shape[1:], size)
    rows, columns = top + size // 2, left + size // 2
    inside = (rows < image.shape[1]) & (columns < image.shape[2])
    for b in inside.nonzero()[:, 0].tolist():
        r, c = rows[b].item(), columns[b].item()
        right, came = image[b, r, c].item(), value[b, 0, size // 2, size // 2].item()
        if abs(right - came) > 1e-3 * (1 + abs(right)):
            return f"In patch 0 a cell is a pixel. The location of image {b} lies in pixel ({r}, {c}), whose value is {right:.4g}, so patches[{b}, 0, {size // 2}, {size // 2}] should be this value; yours is {came:.4g}."
    return None


def _random(draw, *shape, dtype=torch.float32):
    """Of ordinary size, and none of them near 0, so that no pixel passes for one outside."""
    numbers = torch.randn(shape, generator=draw.generator, dtype=torch.float64)
    return (numbers + 0.5 * numbers.sign()).to(dtype)


def _inside(draw, B, Y, X, size, scales):
    """An image and locations whose patches lie within it."""
    side = size * 2 ** (scales - 1)
    rows = draw.whole(side // 2, Y - side + side // 2 + 1, B)
    columns = draw.whole(side // 2, X - side + side // 2 + 1, B)
    return _random(draw, B, Y, X), at_pixels(rows, columns, Y, X), size, scales


def _anywhere(draw, B, Y, X, size, scales, dtype=torch.float32):
    return _random(draw, B, Y, X, dtype=dtype), between_edges(draw, B, Y, X, dtype), size, scales


@task.cases
def _(draw):
    # What a patch is, then what it is near the border; then one axis longer at a time, and all
    yield Case("one patch within the image", _inside(draw, 2, 5, 7, 2, 1))
    yield Case("two patches within the image", _inside(draw, 2, 7, 9, 2, 2))
    yield Case("three patches within the image", _inside(draw, 2, 11, 13, 2, 3), True)
    yield Case("a patch beyond the border", _anywhere(draw, 2, 5, 7, 3, 1))
    for dims in ((2, 5, 7, 1, 2), (3, 5, 7, 1, 2), (2, 6, 7, 1, 2), (2, 5, 8, 1, 2), (2, 5, 7, 2, 2), (2, 5, 7, 1, 3)):
        B, Y, X, size, scales = dims
        name = f"{B} images of {Y}×{X} pixels, patches of {size}×{size} cells, {scales} scales"
        yield Case(name, _anywhere(draw, *dims))
    yield Case("3 images of 13×11 pixels, patches of 5×5 cells, 4 scales", _anywhere(draw, 3, 13, 11, 5, 4), True)
    yield Case("images as tall as they are wide", _anywhere(draw, 2, 11, 11, 3, 2))
    yield Case("as many scales as cells in a row", _anywhere(draw, 2, 17, 19, 3, 3))
    yield Case("an image of one pixel", _anywhere(draw, 2, 1, 1, 2, 2), True, edge=True)
    image = _random(draw, 5, 6, 10)
    ends = torch.tensor([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [-1.0, 1.0], [1.0, 0.0]])[draw.distinct(5, 0, 5)]
    yield Case("corners and centre of the image", (image, ends, 1, 3), True, edge=True)
    yield Case("a single image", _anywhere(draw, 1, 7, 5, 3, 2), True, edge=True)
    image, *rest = _anywhere(draw, 2, 7, 11, 3, 3)
    yield Case("pixels near ±10,000", (image * 1e4, *rest), True, hazard=True)
    yield Case("50 images", _anywhere(draw, 50, 11, 7, 3, 2), edge=True)
    yield Case("float64 numbers", _anywhere(draw, 2, 7, 11, 3, 3, torch.float64), True, hazard=True)


MOST = 1000  # pixels a side: a relation that squares the number of scales would fill all memory


def _places(corners, side):
    """The rows and the columns of square patches, B×side each."""
    if side > MOST:
        raise ValueError(f"a patch of {side} pixels a side is larger than any image here")
    return [start[:, None] + torch.arange(side) for start in corners]


def _pixels(image, places):
    """The pixels there, B×side×side, with zeros outside the image."""
    rows, columns = places[0][:, :, None], places[1][:, None]
    Y, X = image.shape[1:]
    pixels = image[torch.arange(len(image))[:, None, None], rows.clamp(0, Y - 1), columns.clamp(0, X - 1)]
    return pixels.where((rows >= 0) & (rows < Y) & (columns >= 0) & (columns < X), 0.0)


@task.mistake()
def reduced_before_cutting(image, location, size, scales):
    patches = []
    for k in range(scales):
        small = F.avg_pool2d(image[:, None], 2**k, ceil_mode=True)[:, 0]
        patches.append(_pixels(small, _places(corner(location, *small.shape[1:], size), size)))
    return torch.stack(patches, 1)


@task.mistake()
def as_given(image, location, size, scales):
    (B, Y, X), patches = image.shape, []
    columns, rows = ((location + 1) / 2 * Y).floor().long().unbind(1)
    for k in range(scales):
        side = size * 2**k
        left, top = (columns - side // 2).clamp(0, X - side), (rows - side // 2).clamp(0, Y - side)
        pixels = [image[b, top[b] :, left[b] :][:side, :side] for b in range(B)]
        patches.append(torch.stack(pixels)[:, :: 2**k, :: 2**k])
    return torch.stack(patches, 1)
