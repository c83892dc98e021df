"""Task 14.glimpse: what the sensor sees of an image, a few patches around a location, each coarser and wider than the one before."""

from operator import mul, truediv

import torch
import torch.nn.functional as F

from course_lessons.lesson_14_glimpses.tasks._places import at_pixels, between_edges
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.models.glimpses import corner

OUTSIDE = "Pixels outside the image count as zeros"

task = Task(
    "14.glimpse",
    "a sensor with three faults",
    arguments=("image B×Y×X", "location B×2", "size", "scales"),
    result="patches B×scales×size×size",
    difficulty=4,
    importance=5,
    minutes=30,
    hints=(
        "Try the given sensor on images that reveal each fault: one that is not square, a location near the border, and a second patch of random pixels. Compare with what you cut out by hand. Patches extend beyond the image if the location is near a border; there must be zeros to cut out, so pad the image with them first.",
        (
            "Take an image of two rows, [4, 8] and [0, 2], the location (-0.5, -0.5), size 1 and 2 scales. The location falls in pixel (0, 0). Patch 0 has a side of 1 and begins there, so its one cell is 4. "
            "Patch 1 has a side of 2, half of which is 1, so it begins at (-1, -1): three of its four pixels are outside the image and are 0, the fourth is 4, and the cell is (0 + 0 + 0 + 4) / 4 = 1. At the location (0.5, 0.5), pixel (1, 1), patch 1 is inside the image: (4 + 8 + 0 + 2) / 4 = 3.5, and patch 0 is 2."
        ),
        "The column of a location is (x + 1) / 2 times X, its row (y + 1) / 2 times Y, both rounded down. For k from 0 below scales: side = size times 2 to the power of k; padded = image with `side` zeros on each of its four sides; top = row minus side // 2 plus `side`, because padding has shifted everything, and left likewise, with no clamp; cut out side × side pixels there; cells = mean of each block of 2ᵏ by 2ᵏ pixels, as F.avg_pool2d computes it. Stack the patches after the batch axis.",
    ),
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


@task.steps
def _(image, location, size, scales):
    patches = []
    for k in range(scales):
        block = yield "the side of a block", pow, 2, k
        side = yield "the side of a patch", mul, size, block
        corners = yield "the corners of the patches", lambda at, s: corner(at, *image.shape[1:], s), location, side
        places = yield "the pixels' rows and columns", _places, corners, side
        pixels = yield "the pixels of the patches", _pixels, image, places
        blocks = yield "the pixels in blocks", _blocks, pixels, block
        total = yield "the sum of each block", lambda blocks: blocks.sum((2, 4)), blocks
        cells = yield "the mean of each block", truediv, total, block**2
        patches.append(cells)
    return torch.stack(patches, 1)


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


def _blocks(pixels, block):
    """Rows and columns cut into those of blocks, B×size×block×size×block."""
    return pixels.unflatten(1, (-1, block)).unflatten(3, (-1, block))


CORNERS, PLACES = "the corners of the patches", "the pixels' rows and columns"
PIXELS, SUM, MEAN = "the pixels of the patches", "the sum of each block", "the mean of each block"


def _sliced(image, places):
    whole = zip(image, *places, strict=True)
    patches = [picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] for picture, rows, columns in whole]
    return torch.stack(patches).reshape(len(image), places[0].shape[1], places[1].shape[1])


def _kept(inside):
    """A change of corners, or of rows and columns, which keeps them in the image: inside(where they are, its length, the patch's side)."""

    def change(given, side, *, image, right):
        return [inside(start, length, side) for start, length in zip(right(given, side), image.shape[1:], strict=True)]

    return change


def _mean_of_what_is_inside(total, n, *, image, done):
    ones = _blocks(_pixels(torch.ones_like(image), done[PLACES]), done["the side of a block"])
    return (total / ones.sum((2, 4))).nan_to_num()


def _interpolated(blocks):
    size, patches = blocks.shape[1], blocks.flatten(3).flatten(1, 2)
    return F.interpolate(patches[:, None], size=(size, size), mode="bilinear")[:, 0]


@task.mistake(
    "You downsample the whole image first and cut the patches out of the result, so the blocks follow the image's grid, not the patch's. Cut the patch out of the image first, then downsample it."
)
def reduced_before_cutting(image, location, size, scales):
    patches = []
    for k in range(scales):
        small = F.avg_pool2d(image[:, None], 2**k, ceil_mode=True)[:, 0]
        patches.append(_pixels(small, _places(corner(location, *small.shape[1:], size), size)))
    return torch.stack(patches, 1)


@task.mistake("This is the sensor from the prompt, with its three faults.")
def as_given(image, location, size, scales):
    (B, Y, X), patches = image.shape, []
    columns, rows = ((location + 1) / 2 * Y).floor().long().unbind(1)
    for k in range(scales):
        side = size * 2**k
        left, top = (columns - side // 2).clamp(0, X - side), (rows - side // 2).clamp(0, Y - side)
        pixels = [image[b, top[b] :, left[b] :][:side, :side] for b in range(B)]
        patches.append(torch.stack(pixels)[:, :: 2**k, :: 2**k])
    return torch.stack(patches, 1)


task.changed_each(
    # Beyond the border
    ("slices_without_padding", f"Your function fails if a patch extends beyond the image. A slice such as [-1:3] counts -1 from the end and is empty, and one beyond the other end is too short. {OUTSIDE}: pad the image with zeros before you cut.", {PIXELS: _sliced}),
    ("edge_repeated", f"Beyond the border you repeat the pixels of the border. {OUTSIDE}.", {PLACES: _kept(lambda places, length, side: places.clamp(0, length - 1))}),
    ("wrapped", f"Beyond the border the image continues from its opposite edge, as happens with negative indices and `%`. {OUTSIDE}.", {PLACES: _kept(lambda places, length, side: places % length)}),
    ("moved_inside", f"Patches near the border are moved until they lie within the image, so they are not centred on the location. {OUTSIDE}: leave the patch where it is.", {CORNERS: _kept(lambda start, length, side: start.clamp(max=length - side).clamp(min=0))}),
    ("zeros_not_counted", f"Cells on the border are too far from 0: you take the mean of only the pixels inside the image. {OUTSIDE}, and every cell is divided by 2ᵏ × 2ᵏ.", {MEAN: _mean_of_what_is_inside}),
    # Where the patches lie
    ("sizes_exchanged", "You multiply x by the image's height and y by its width. x goes along the width X, and y along the height Y; an image is B×Y×X.", {CORNERS: lambda at, side, *, image: corner(at, *image.mT.shape[1:], side)}),
    ("height_for_both", "You multiply both coordinates of a location by the image's height. x goes along its width: multiply it by X.", {CORNERS: lambda at, side, *, image: corner(at, image.shape[1], image.shape[1], side)}),
    ("top_and_left_exchanged", "Rows and columns are swapped where you cut: you begin at the row computed from x and the column computed from y. y determines the first row, and x the first column.", {CORNERS: lambda at, side, *, right: right(at, side)[::-1]}),
    ("begins_at_the_location", "Your patches begin at the location. The location is their middle: the corner is half a side above it and to its left.", {CORNERS: lambda at, side, *, right: right(at, 0)}),
    ("one_corner_for_all", "All your patches begin at the corner of the first one, so the wide ones are not centred on the location. Each has its own side and therefore its own corner.", {CORNERS: lambda at, side, *, size, right: right(at, size)}),
    ("coordinates_exchanged", "You use the first coordinate of a location as y and the second as x. A location is (x, y): the first goes along the width.", {"location": lambda location: location.flip(1)}),
    ("location_kept_inside", "You assign a location of 1 to the last pixel. It belongs in the next one, outside the image: leave row and column as they are, without a clamp.", {"location": lambda location, *, image: location.minimum(1 - 1 / torch.tensor([*image.mT.shape[1:]]).to(location))}),
    # From pixels to cells
    ("summed", "Your cells are sums. Take the mean: divide by the number of pixels, 2ᵏ × 2ᵏ.", {MEAN: left_out}),
    ("divided_by_one_side", "You divide the sum of a block by 2ᵏ. It has 2ᵏ × 2ᵏ pixels.", {MEAN: lambda total, n, *, done: total / done["the side of a block"]}),
    ("every_nth_pixel", "Your cells are single pixels: a slice with a step of 2ᵏ picks only the first pixel of each block. Take the mean of the block.", {SUM: lambda blocks: blocks[:, :, 0, :, 0], MEAN: left_out}),
    ("interpolated", "From scale 2 on, your cells are the mean of four pixels in the middle of each block, as F.interpolate computes them in bilinear mode. Take the mean of all pixels of the block.", {SUM: _interpolated, MEAN: left_out}),
    # The result
    ("scales_last", "The axis of scales is your last one. It comes right after the batch: B×scales×size×size.", {"result": lambda patches: patches.movedim(1, -1)}),
    ("scales_first", "The axis of scales is your first one. The batch comes first: B×scales×size×size.", {"result": lambda patches: patches.transpose(0, 1)}),
)  # fmt: skip
