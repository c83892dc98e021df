"""Models that look at an image through glimpses, right and wrong ones, for 14.catch_peeking. No task is declared here.

A model is a function (image Y×X, locations T×2, size, scales) → V. Those that peek do so by much more than rounding where random numbers are
put into the pixels that they must not see.
"""

from functools import lru_cache

import torch
import torch.nn.functional as F

from course_utils.models.glimpses import corner, glimpse

CLASSES = 3


@lru_cache(maxsize=256)
def _made(rows, columns, seed):
    """A fixed matrix of any shape, whose entries stay the same where it grows."""
    places = torch.arange(rows)[:, None] * 1.7 + torch.arange(columns) * 2.9 + seed
    return torch.sin(places) / rows**0.5


def look(image, locations, size, scales):
    """All glimpses: T×scales×size×size."""
    return glimpse(image.expand(len(locations), *image.shape), locations, size, scales)


def _features(patches, locations):
    rows = patches.flatten(1)  # T P
    return torch.tanh(rows @ _made(rows.shape[1], 7, 0.3) + locations @ _made(2, 7, 1.1))  # T 7


def _summed(see):
    """A model that adds up what it makes of each glimpse; function(image, locations, size, scales) gives the patches."""

    def model(image, locations, size, scales):
        return _features(see(image, locations, size, scales), locations).sum(0) @ _made(7, CLASSES, 0.7)

    return model


honest = _summed(look)


def recurrent(image, locations, size, scales):
    state = torch.zeros(7)
    for row in _features(look(image, locations, size, scales), locations):
        state = torch.tanh(row + state @ _made(7, 7, 0.2) / 2)
    return state @ _made(7, CLASSES, 0.7)


def first_alone(image, locations, size, scales):
    return honest(image, locations[:1], size, scales)


def last_alone(image, locations, size, scales):
    return honest(image, locations[-1:], size, scales)


def blind(image, locations, size, scales):
    """The same for every image."""
    return torch.tensor([0.5, -1.0, 2.0])


def knows_the_size(image, locations, size, scales):
    """Depends on how large the image is, and on what it sees."""
    return honest(image, locations, size, scales) + torch.tensor([*image.shape, size]) / 10


def seen(image, locations, size, scales):
    """Where pixels lie in a glimpse, Y×X: in the widest patch, which holds the others."""
    (Y, X), side = image.shape, size * 2 ** (scales - 1)
    map_of_seen = torch.zeros(Y, X, dtype=torch.bool)
    for top, left in zip(*(start.tolist() for start in corner(locations, Y, X, side)), strict=True):
        map_of_seen[max(top, 0) : max(top + side, 0), max(left, 0) : max(left + side, 0)] = True
    return map_of_seen


def all_less_the_rest(image, locations, size, scales):
    """The sum of all pixels less that of those outside. The last digits of the other number depend on them, as by rounding."""
    rest = image[~seen(image, locations, size, scales)].double().sum()
    rounding = 3e-5 * (1000 * rest).sin()  # bounded, as the promise holds for all images
    return (torch.stack([image.double().sum() - rest, locations.sum() + rounding]) / 10).float()


def finest_alone(image, locations, size, scales):
    return honest(image, locations, size, 1)


def middle_alone(image, locations, size, scales):
    """Each location's own pixel, and no other."""
    return honest(image, locations, 1, 1)


def one_number(image, locations, size, scales):
    """A single class: the largest cell of all."""
    return look(image, locations, size, scales).amax().reshape(1)


# Wrong ones: other glimpses


def _cut(image, locations, size, scales, start=lambda top, left, side: (top, left), around=None):
    """Glimpses whose corners are changed, or which go round at the border where `around` is true."""
    (Y, X), patches = image.shape, []
    for k in range(scales):
        side = size * 2**k
        for top, left in zip(*(each.tolist() for each in start(*corner(locations, Y, X, side), side)), strict=True):
            rows, columns = torch.arange(top, top + side), torch.arange(left, left + side)
            inside = ((rows >= 0) & (rows < Y))[:, None] & (columns >= 0) & (columns < X)
            pixels = image[rows % Y][:, columns % X]
            patches.append(F.avg_pool2d(pixels.where(inside | bool(around), 0.0)[None], 2**k)[0])
    return torch.stack(patches).unflatten(0, (scales, -1)).transpose(0, 1)


wider = _summed(lambda image, locations, size, scales: look(image, locations, size + 1, scales))
one_scale_more = _summed(lambda image, locations, size, scales: look(image, locations, size, scales + 1))
off_by_one = _summed(lambda *args: _cut(*args, start=lambda top, left, side: (top + 1, left)))
begins_at_the_location = _summed(
    lambda *args: _cut(*args, start=lambda top, left, side: (top + (side + 1) // 2, left + (side + 1) // 2))
)
wrapped = _summed(lambda *args: _cut(*args, around=True))
coordinates_exchanged = _summed(lambda image, locations, *rest: look(image, locations.flip(1), *rest))
mirrored = _summed(lambda image, locations, *rest: look(image, -locations, *rest))


def _moved_inside(image, locations, size, scales):
    Y, X = image.shape
    inside = lambda start, length, side: start.clamp(max=length - side).clamp(min=0)  # noqa: E731
    return _cut(
        image,
        locations,
        size,
        scales,
        start=lambda top, left, side: (inside(top, Y, side), inside(left, X, side)),
    )


moved_inside = _summed(_moved_inside)


@_summed
def sizes_exchanged(image, locations, size, scales):
    """Multiplies x by the height and y by the width."""
    Y, X = image.shape

    def start(top, left, side):
        left, top = ((locations + 1) / 2 * torch.tensor([Y, X])).floor().long().unbind(-1)
        return top - side // 2, left - side // 2

    return _cut(image, locations, size, scales, start=start)


@_summed
def blurred(image, locations, size, scales):
    """Blurs the image before it cuts: each pixel has something of its neighbours."""
    return look(F.avg_pool2d(image[None, None], 3, 1, 1)[0, 0], locations, size, scales)


@_summed
def reduced_before_cutting(image, locations, size, scales):
    """Reduces the image first, so that the blocks follow its grid and not the patch's."""
    patches = []
    for k in range(scales):
        small = F.avg_pool2d(image[None, None], 2**k, ceil_mode=True)[0, 0]
        patches.append(look(small, locations, size, 1))
    return torch.cat(patches, 1)


@_summed
def less_the_mean(image, locations, size, scales):
    """Subtracts the mean of the whole image first."""
    return look(image - image.mean(), locations, size, scales)


@_summed
def over_the_spread(image, locations, size, scales):
    return look(image / (image.square().mean() + 0.01).sqrt(), locations, size, scales)


@_summed
def over_the_largest(image, locations, size, scales):
    return look(image / (image.abs().amax() + 0.01), locations, size, scales)


# Wrong ones: something beside the glimpses


def _leak(into, number, when=lambda image, locations, size, scales: True):
    """An honest model with a leak: the number that function(image, locations, size, scales) gives goes into the classes so much."""

    def model(image, locations, size, scales):
        right = honest(image, locations, size, scales)
        if not when(image, locations, size, scales):
            return right
        return right + torch.tensor(into) * number(image, locations, size, scales)

    return model


ALL, LAST, CANCELLING = (0.5, -0.4, 0.3), (0.0, 0.0, 0.5), (0.5, -0.5, 0.0)


def _mean(image, *rest):
    return image.mean() * image.numel() ** 0.5


def _glimpse_at(location):
    """The mean of a glimpse somewhere else."""
    return lambda image, locations, size, scales: look(image, location(locations), size, scales).mean(0).sum() / size


def _brightest(image, locations, size, scales):
    place = image.flatten().argmax()
    return torch.stack([place // image.shape[1], place % image.shape[1]]).float().sin().sum()


whole_image_at_first = _leak(
    ALL, lambda image, *rest: F.adaptive_avg_pool2d(image[None], 2)[0].flatten() @ torch.tensor([1.0, -1.5, 2.0, 1.0])
)
into_one_class = _leak(LAST, _mean)
cancelling = _leak(CANCELLING, _mean)
weakly = _leak(ALL, lambda *args: _mean(*args) / 2500)  # less than a thousandth, still far more than rounding
brightest_pixel = _leak(ALL, _brightest)
magnitude = _leak(ALL, lambda image, *rest: image.abs().mean() * image.numel() ** 0.5)
centre_as_well = _leak(ALL, _glimpse_at(lambda locations: torch.zeros(1, 2)))
halfway = _leak(ALL, _glimpse_at(lambda locations: locations.mean(0, keepdim=True)))
first_pixel = _leak(ALL, lambda image, *rest: image[0, 0])
last_pixel = _leak(ALL, lambda image, *rest: image[-1, -1])
last_row = _leak(ALL, lambda image, *rest: image[-1].sum() / 2)
corner_of_each = _leak(ALL, lambda image, *rest: image[::3, ::3].sum() / 2)

WHEN = {
    "from_three_glimpses": lambda image, locations, size, scales: len(locations) >= 3,
    "single_glimpse": lambda image, locations, size, scales: len(locations) == 1,
    "single_scale": lambda image, locations, size, scales: scales == 1,
    "high_images": lambda image, locations, size, scales: image.shape[0] > image.shape[1],
    "wide_images": lambda image, locations, size, scales: image.shape[0] < image.shape[1],
    "large_images": lambda image, locations, size, scales: max(image.shape) > 20,
    "glimpses_of_one_cell": lambda image, locations, size, scales: size == 1,
}
from_three_glimpses, single_glimpse, single_scale, high_images, wide_images, large_images, glimpses_of_one_cell = (
    _leak(ALL, _mean, when) for when in WHEN.values()
)


def fails_unless_square(image, locations, size, scales):
    if image.shape[0] != image.shape[1]:
        raise RuntimeError("The size of tensor a must match the size of tensor b at non-singleton dimension 1")
    return honest(image, locations, size, scales)


def gives_nan(image, locations, size, scales):
    """The root of what may be negative."""
    return honest(image, locations, size, scales) + (honest(image, locations, size, scales)[:1] - 1e3).sqrt()


def pixel_beside(image, locations, size, scales):
    """An honest model that sees the pixel to the right of each glimpse's last patch."""
    (Y, X), side = image.shape, size * 2 ** (scales - 1)
    top, left = corner(locations, Y, X, side)
    rows, columns = (top + side // 2).clamp(0, Y - 1), left + side
    beside = image[rows, columns.clamp(0, X - 1)] * ((columns >= 0) & (columns < X))
    return honest(image, locations, size, scales) + beside.sum() / 2
