"""What 14.catch_peeking tries a learner's test on: models that look at an image through glimpses. No task is declared here.

A model is a function (image Y×X, locations T×2, size, scales) → V. Those that peek do so by much more than rounding where random numbers are
put into the pixels that they must not see.
"""

from functools import lru_cache

import torch
import torch.nn.functional as F

from course_utils.models.glimpses import corner, glimpse

CLASSES = 3
ENTRIES_AT_MOST = 200_000  # of a matrix that is kept


@lru_cache(maxsize=256)
def _made(rows, columns, seed):
    """A fixed matrix of any shape, whose entries stay the same where it grows."""
    places = torch.arange(rows)[:, None] * 1.7 + torch.arange(columns) * 2.9 + seed
    return torch.sin(places) / rows**0.5


def _looking(cut):
    """Return look(image, locations, size, scales), all glimpses, T×scales×size×size.

    A test calls models thousands of times, mostly with the same locations: the matrix that turns an image's pixels into the cells of its
    glimpses is kept. `cut` takes images N×Y×X and one location for all of them, 1×2, and returns N×scales×size×size.
    """

    @lru_cache(maxsize=128)
    def projection(Y, X, places, size, scales):
        pixels = torch.eye(Y * X).unflatten(1, (Y, X))
        return torch.cat([cut(pixels, torch.tensor([place]), size, scales).flatten(1).T for place in places])

    def look(image, locations, size, scales):
        if len(locations) * scales * size**2 * image.numel() > ENTRIES_AT_MOST:
            return torch.cat([cut(image[None], location[None], size, scales) for location in locations])
        places = tuple(map(tuple, locations.tolist()))
        return (projection(*image.shape, places, size, scales) @ image.flatten()).unflatten(0, (-1, scales, size, size))

    return look


look = _looking(lambda images, location, *sizes: glimpse(images, location.expand(len(images), 2), *sizes))


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


# Wrong ones: other glimpses


def _cut(start=corner, around=False):
    """Glimpses whose corners are start(location, Y, X, side), or which go round at the border where `around` is true."""

    def cut(images, location, size, scales):
        (Y, X), patches = images.shape[1:], []
        for k in range(scales):
            side = size * 2**k
            top, left = (int(each) for each in start(location, Y, X, side))
            rows, columns = torch.arange(top, top + side), torch.arange(left, left + side)
            inside = ((rows >= 0) & (rows < Y))[:, None] & (columns >= 0) & (columns < X)
            pixels = images[:, rows % Y][:, :, columns % X]
            patches.append(F.avg_pool2d(pixels.where(inside | around, 0.0), 2**k))
        return torch.stack(patches, 1)

    return _looking(cut)


def _too_low(locations, Y, X, side):
    top, left = corner(locations, Y, X, side)
    return top + 1, left


def _moved_inside(locations, Y, X, side):
    starts = zip(corner(locations, Y, X, side), (Y, X), strict=True)
    return [start.clamp(max=length - side).clamp(min=0) for start, length in starts]


def _blurred(image, *rest):
    return look(F.avg_pool2d(image[None, None], 3, 1, 1)[0, 0], *rest)


def _reduced_before_cutting(image, locations, size, scales):
    """The blocks follow the image's grid and not the patch's."""
    patches = []
    for k in range(scales):
        small = F.avg_pool2d(image[None, None], 2**k, ceil_mode=True)[0, 0]
        patches.append(look(small, locations, size, 1))
    return torch.cat(patches, 1)


# Wrong ones: something beside the glimpses


def _leak(into, number, when=lambda image, locations, size, scales: True):
    """An honest model with a leak: the number that function(image, locations, size, scales) gives goes into the classes so much."""

    def model(*given):
        right = honest(*given)
        return right + torch.tensor(into) * number(*given) if when(*given) else right

    return model


ALL, LAST, CANCELLING = (0.5, -0.4, 0.3), (0.0, 0.0, 0.5), (0.5, -0.5, 0.0)


def _mean(image, *rest):
    return image.mean() * image.numel() ** 0.5


def _coarse_view(image, *rest):
    return F.adaptive_avg_pool2d(image[None], 2)[0].flatten() @ torch.tensor([1.0, -1.5, 2.0, 1.0])


def _in_the_centre(image, locations, size, scales):
    return look(image, torch.zeros(1, 2), size, scales).sum() / size


def _around_all(image, *rest):
    """The rectangle around all glimpses: a single glimpse fills it."""
    rows, columns = seen(image, *rest).nonzero().unbind(1)
    return image[rows.amin() : rows.amax() + 1, columns.amin() : columns.amax() + 1].sum() / 5 if len(rows) else 0.0


def _brightest(image, *rest):
    place = image.flatten().argmax()
    return torch.stack([place // image.shape[1], place % image.shape[1]]).float().sin().sum()


def _fails_unless_square(image, *rest):
    if image.shape[0] != image.shape[1]:
        raise RuntimeError("The size of tensor a must match the size of tensor b at non-singleton dimension 1")
    return honest(image, *rest)


RIGHT = {
    honest: "a correct model: a sum over glimpses",
    recurrent: "a correct model: a recurrent network over its glimpses",
    lambda image, locations, *rest: honest(image, locations[:1], *rest): "a correct model: it uses only its first glimpse",
    lambda image, locations, *rest: honest(image, locations[-1:], *rest): "a correct model: it uses only its last glimpse",
    blind: "a correct model: it ignores the image",
    knows_the_size: "a correct model: it knows how large the image is but sees only its glimpses",
    all_less_the_rest: "a correct model: it subtracts the pixels outside its glimpses from the sum of all, so they change only its last digits",
    lambda image, locations, size, scales: honest(image, locations, size, 1): "a correct model: it uses only the finest patch of each glimpse",
    lambda image, locations, size, scales: honest(image, locations, 1, 1): "a correct model: it uses only the middle of each glimpse",
    lambda *given: look(*given).amax().reshape(1): "a correct model: it returns a single number, computed from its glimpses",
}  # fmt: skip

WRONG = {
    _leak(ALL, _coarse_view): "an incorrect model: it starts with a coarse view of the whole image",
    _summed(lambda image, *rest: look(image - image.mean(), *rest)): "an incorrect model: it subtracts the mean of the whole image",
    _summed(lambda image, *rest: look(image / (image.square().mean() + 0.01).sqrt(), *rest)): "an incorrect model: it divides by the spread of the whole image",
    _leak(LAST, _mean): "an incorrect model: one of its numbers sees the mean of the whole image",
    _leak(CANCELLING, _mean): "an incorrect model: it adds the mean of the whole image to one number and subtracts it from another",
    _leak(ALL, lambda *given: _mean(*given) / 2500): "an incorrect model: it sees a little of the mean of the whole image",  # less than a thousandth, still far more than rounding
    _summed(_blurred): "an incorrect model: it blurs the image before it cuts glimpses out, so neighbouring pixels have an effect",
    _summed(_reduced_before_cutting): "an incorrect model: it downsamples the image before it cuts glimpses out, so neighbouring pixels have an effect",
    _summed(lambda image, locations, size, scales: look(image, locations, size + 1, scales)): "an incorrect model: its glimpses are one cell too wide",
    _summed(lambda image, locations, size, scales: look(image, locations, 2 * size - 1, scales)): "an incorrect model: its glimpses reach `size` cells to each side, so they are too wide if `size` is above 1",
    _summed(_cut(_too_low)): "an incorrect model: its glimpses begin one pixel too low",
    _summed(_cut(lambda locations, Y, X, side: corner(locations, Y, X, 0))): "an incorrect model: its patches begin at their location instead of being centred on it",
    _summed(lambda image, locations, *rest: look(image, locations.flip(1), *rest)): "an incorrect model: it reads a location as (y, x)",
    _summed(_cut(lambda locations, Y, X, side: corner(locations, X, Y, side))): "an incorrect model: it swaps height and width, which matters if an image is not square",
    _summed(_cut(_moved_inside)): "an incorrect model: it moves glimpses at the border into the image",
    _summed(_cut(around=True)): "an incorrect model: glimpses at the border continue at the opposite edge of the image",
    _leak(ALL, _in_the_centre): "an incorrect model: it takes a glimpse of the centre as well",
    _leak(ALL, lambda image, *rest: image[-1].sum() / 2): "an incorrect model: it sees the last row of the image",
    _leak(ALL, _around_all): "an incorrect model: it sees the rectangle around all its glimpses, including what lies between them",
    _fails_unless_square: "an incorrect model: it fails on images that are not square",
}  # fmt: skip

RARE = {
    _leak(ALL, lambda image, *rest: torch.nan if image.mean() > image.median() else 0.0): "an incorrect model: it gives NaN if the mean of the whole image is above its median",
    _leak(ALL, _brightest): "an incorrect model: it sees where the brightest pixel is",
    _leak(ALL, lambda image, *rest: image[-1, -1]): "an incorrect model: it sees the last pixel of the image",
    _leak(ALL, _mean, lambda image, locations, size, scales: len(locations) == 1): "an incorrect model: it peeks if there is a single glimpse",
    _leak(ALL, _mean, lambda image, locations, size, scales: scales == 1): "an incorrect model: it peeks if `scales` is 1",
    _leak(ALL, _mean, lambda image, *rest: image.shape[0] < image.shape[1]): "an incorrect model: it peeks in images that are wider than tall",
    _leak(ALL, _mean, lambda image, *rest: max(image.shape) > 16): "an incorrect model: it peeks in images of more than 16 pixels on a side",
}  # fmt: skip
