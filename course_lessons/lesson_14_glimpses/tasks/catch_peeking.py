"""Task 14.catch_peeking: a test that finds models which see more of an image than their glimpses show."""

from functools import cache

import torch
import torch.nn.functional as F

from course_lessons.lesson_14_glimpses.tasks._models import RARE, RIGHT, WRONG, seen
from course_lessons.shared.candidate_tests import (
    asking,
    equal_up_to_rounding,
    mistakes_of_comparing,
    mistakes_of_tests,
    one_case_each,
    tests_without,
)
from course_utils.checks.task import Task

MOST = {"pixels": 256, "glimpses": 64, "size": 16, "scales": 6}
LARGEST = 1000  # magnitude of a pixel


def _numbers(tensor):
    return (
        isinstance(tensor, torch.Tensor)
        and tensor.dtype == torch.float32
        and tensor.dim() == 2
        and tensor.numel()
        and tensor.isfinite().all()
    )


def _problem(image, locations, size, scales):
    """What is wrong with the arguments that a test gives to a candidate; None for nothing."""
    if not _numbers(image) or max(image.shape) > MOST["pixels"] or image.abs().amax() > LARGEST:
        return f"Your test calls a model with an `image` that is not a float32 tensor Y×X of numbers from -{LARGEST} to {LARGEST}, with 1 to {MOST['pixels']} pixels on each side."
    if not _numbers(locations) or locations.shape[1] != 2 or len(locations) > MOST["glimpses"]:
        return f"Your test calls a model with `locations` that are not a float32 tensor T×2 of finite numbers, with T from 1 to {MOST['glimpses']}."
    if locations.abs().amax() > 1:
        return "Your test calls a model with a location below -1 or above 1. Both coordinates range from -1 to 1."
    for name, value in (("size", size), ("scales", scales)):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST[name]:
            return f"Your test calls a model with a `{name}` that is not an int from 1 to {MOST[name]}."
    return None


task = Task(
    "14.catch_peeking",
    "a test that finds models which peek",
    arguments=("model",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=4,
    importance=5,
    minutes=30,
    offers=("models.glimpses.corner", "models.glimpses.glimpse"),
    hints=(
        "Let the model answer for itself: call it on an image, replace every pixel outside the glimpses with a new random number, and call it again. A correct model returns the same numbers. Two questions remain: which pixels does a glimpse contain, and for which images, locations, sizes and scales could a model peek but be honest for all others?",
        (
            "Take an image of one row, 3, 5, 7, 9, one glimpse of a single cell with 1 scale, and the location (-0.25, 0), which falls in pixel 1. The glimpse contains only the 5. A model that returns the mean of the image gives 6. Change the 9 to 1: now the model gives 4, so it peeks. "
            "A model that returns what it sees, minus 1, gives 4 both times. With 2 scales the second patch begins a pixel earlier and contains 3 and 5, so only 7 and 9 may change."
        ),
        "For many random settings (Y and X from 5 to 30, different from each other; 1 to 4 locations anywhere; size and scales 1 to 3): seen = Y×X truth values, False at first; for each location and each k: top, left = corner(location, Y, X, side), with side = size times 2 to the power of k; True in the rows top to top + side and columns left to left + side that are in the image. In a `try` that returns False on any exception: before = model(image, …); changed = image where seen, other random numbers elsewhere; False unless model(changed, …) equals before, up to 1e-5. At the end: True.",
    ),
)


one_case_each(task, RIGHT, WRONG, RARE)


# Tests with something wrong. Y, X, T, size, scales: they show every model that peeks.
SETTINGS = (
    (5, 9, 1, 1, 1), (9, 5, 1, 2, 1), (7, 11, 1, 2, 2), (12, 7, 2, 1, 2), (8, 13, 2, 1, 3), (13, 10, 2, 3, 1),
    (11, 15, 3, 2, 1), (16, 11, 4, 2, 2), (11, 17, 3, 1, 1), (18, 14, 5, 3, 2), (24, 30, 2, 2, 3), (31, 22, 3, 1, 2),
    (19, 26, 1, 3, 2), (26, 23, 2, 2, 1), (22, 29, 4, 3, 1), (10, 14, 2, 3, 2),
)  # fmt: skip


def _anywhere(Y, X, T, side, draw):
    return 2 * torch.rand(T, 2, generator=draw) - 1


def _well_inside(Y, X, T, side, draw):
    """Locations whose glimpses lie within the image; where that is impossible, none."""
    room = 1 - (side + 2) / torch.tensor([X, Y])
    return (2 * torch.rand(T, 2, generator=draw) - 1) * room if (room > 0).all() else None


@cache
def _trials(settings, locate, seen, change):
    """Images before and after a change, with the other arguments of a call."""
    draw, trials = torch.Generator().manual_seed(3), []
    for Y, X, T, size, scales in settings:
        image, locations = torch.randn(Y, X, generator=draw), locate(Y, X, T, size * 2 ** (scales - 1), draw)
        if locations is None:
            continue
        image = image.clamp(-4, 4)
        kept = seen(image, locations, size, scales)
        trials.append((image, image.where(kept, change(image, kept, draw)), locations, size, scales))
    return trials


def _noise(image, kept, draw):
    return torch.randn(image.shape, generator=draw).clamp(-4, 4)


def _test(model, settings=SETTINGS, locate=_anywhere, seen=seen, change=_noise, same=equal_up_to_rounding):
    """A test like the solution's, whose promises may be dropped or weakened."""
    try:
        trials = _trials(settings, locate, seen, change)
        return all(same(model(image, *rest), model(changed, *rest)) for image, changed, *rest in trials)
    except Exception:
        return False


_mistaken = mistakes_of_tests(
    task,
    _test,
    "model",
    "Perhaps an error in the test itself ends in `except`, which returns False: no gradient passes through a model, for instance, and each takes (image Y×X, locations T×2, size, scales), without an axis for a batch.",
)


def _of(part):
    return lambda image, locations, size, scales: seen(image, part(locations), size, scales)


def _with_a_margin(*args):
    return F.max_pool2d(seen(*args).float()[None], 3, 1, 1)[0] > 0


def _reordered(image, kept, draw):
    changed, others = image.clone(), image[~kept]
    changed[~kept] = others[torch.randperm(len(others), generator=draw)]
    return changed


mistakes_of_comparing(
    _mistaken,
    "model",
    "Your test rejects a correct model whose results change in the last decimal places when other pixels change.",
    "Your test passes a model that peeks a little, by less than a thousandth",
    0.003,
)
for _name, _sentence, _changes in (
    # What is compared
    ("runs_at_all", "Every model that raises no error passes your test. Change the pixels outside the glimpses, in a copy, to new random numbers of about 1, and compare the results.", {"same": lambda before, after: True}),
    ("classes_compared", "Your test passes models whose numbers change without changing which is largest. Compare the numbers, not the predicted class.", {"same": lambda before, after: bool(before.argmax() == after.argmax())}),
    ("sums_compared", "Your test passes a model that peeks and raises one class by as much as it lowers another, because you compare the sum of the numbers, or their mean. Compare the numbers one by one.", {"same": lambda before, after: equal_up_to_rounding(before.sum(), after.sum())}),
    # Which pixels stay
    ("nothing_stays", "Your test rejects all correct models that look at the image, even one that uses only the middle of each glimpse. This happens if you change the whole image, or the pixels inside the glimpses instead of the ones outside. Keep the pixels that are in a glimpse and change the others.", {"seen": lambda image, *rest: torch.zeros_like(image, dtype=torch.bool)}),
    ("first_glimpse_stays", "Your test rejects correct models that use later glimpses, because you keep only the pixels of the first glimpse. Keep the pixels of all glimpses.", {"seen": _of(lambda locations: locations[:1])}),
    ("last_glimpse_stays", "Your test rejects correct models that use earlier glimpses, because you keep only the pixels of the last glimpse. If you fill a table in a loop, do not reset it in each pass.", {"seen": _of(lambda locations: locations[-1:])}),
    ("finest_scale_stays", "Your test rejects correct models with several scales, because you keep only the pixels of the finest patch. Patch k has a side of size · 2ᵏ.", {"seen": lambda image, locations, size, scales: seen(image, locations, size, 1)}),
    ("coordinates_exchanged", "Your test rejects correct models, because the pixels that you keep are not the ones in their glimpses. This happens if x and y are swapped. A location is (x, y), and corner returns (top, left).", {"seen": _of(lambda locations: locations.flip(1))}),
    ("a_margin_stays", "Your test passes models whose glimpses are one pixel too wide or shifted by one pixel, because you also keep the pixels next to the glimpses. Change all pixels that are in no glimpse.", {"seen": _with_a_margin}),
    # What is changed
    ("reordered", "Your test passes models that use the mean or the largest pixel of the whole image, because you only reorder its pixels. Replace them with new random numbers.", {"change": _reordered}),
):  # fmt: skip
    _mistaken(_name, _sentence, **_changes)


# Which settings are tried

LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "coarse": ("models that downsample the image before they cut", "Try two or three scales."),
    "oblong": ("models that confuse height and width", "Try images that are not square, both tall and wide ones."),
    "border": ("models that move their glimpses into the image at the border, or continue them at the opposite edge", "Include locations near every border."),
}  # fmt: skip


def _without(parts):
    settings = [each for each in SETTINGS if "coarse" not in parts or each[-1] == 1]
    if "oblong" in parts:
        settings = [(max(each[:2]), max(each[:2]), *each[2:]) for each in settings]
    locate = _well_inside if "border" in parts else _anywhere
    return lambda model: _test(model, tuple(settings), locate)


tests_without(task, LEFT_OUT, _without, 2)
