"""Task 14.catch_peeking: a test that finds models which see more of an image than their glimpses show."""

from functools import cache

import torch
import torch.nn.functional as F

from course_lessons.lesson_14_glimpses.tasks._models import RARE, RIGHT, WRONG, seen
from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, one_case_each
from course_utils.checks.task import Task

MOST = {"pixels": 256, "glimpses": 64, "size": 16, "scales": 6}
LARGEST = 1000  # magnitude of a pixel


def _numbers(tensor):
    return isinstance(tensor, torch.Tensor) and tensor.dtype == torch.float32 and tensor.dim() == 2 and tensor.numel()


def _problem(image, locations, size, scales):
    """What is wrong with the arguments that a test gives to a candidate; None for nothing."""
    if not _numbers(image) or max(image.shape) > MOST["pixels"] or not image.abs().amax() <= LARGEST:
        return f"Your test calls a model with an `image` that is not a float32 tensor Y×X of numbers from -{LARGEST} to {LARGEST}, with 1 to {MOST['pixels']} pixels on each side."
    farthest = locations.abs().amax() if _numbers(locations) else torch.inf  # NaN if one is
    if not farthest < torch.inf or locations.shape[1] != 2 or len(locations) > MOST["glimpses"]:
        return f"Your test calls a model with `locations` that are not a float32 tensor T×2 of finite numbers, with T from 1 to {MOST['glimpses']}."
    if farthest > 1:
        return "Your test calls a model with a location below -1 or above 1. Both coordinates range from -1 to 1."
    for name, value in (("size", size), ("scales", scales)):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST[name]:
            return f"Your test calls a model with a `{name}` that is not an int from 1 to {MOST[name]}."
    return None


task = Task(
    __name__,
    "a test that finds models which peek",
    arguments=("model",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=4,
    importance=5,
    minutes=30,
    offers=("models.glimpses.corner", "models.glimpses.glimpse"),
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
    trials = _trials(settings, locate, seen, change)
    return all(same(model(image, *rest), model(changed, *rest)) for image, changed, *rest in trials)


_mistaken = MistakenTests(task, _test)


def _of(part):
    return lambda image, locations, size, scales: seen(image, part(locations), size, scales)


def _with_a_margin(*args):
    return F.max_pool2d(seen(*args).float()[None], 3, 1, 1)[0] > 0


def _reordered(image, kept, draw):
    changed, others = image.clone(), image[~kept]
    changed[~kept] = others[torch.randperm(len(others), generator=draw)]
    return changed


_mistaken.by_comparing(0.003)

# What is compared

_mistaken("runs_at_all", same=lambda before, after: True)
_mistaken("classes_compared", same=lambda before, after: bool(before.argmax() == after.argmax()))
_mistaken("sums_compared", same=lambda before, after: equal_up_to_rounding(before.sum(), after.sum()))

# Which pixels stay

_mistaken("nothing_stays", seen=lambda image, *rest: torch.zeros_like(image, dtype=torch.bool))
_mistaken("first_glimpse_stays", seen=_of(lambda locations: locations[:1]))
_mistaken("last_glimpse_stays", seen=_of(lambda locations: locations[-1:]))
_mistaken("finest_scale_stays", seen=lambda image, locations, size, scales: seen(image, locations, size, 1))
_mistaken("coordinates_exchanged", seen=_of(lambda locations: locations.flip(1)))
_mistaken("a_margin_stays", seen=_with_a_margin)

# What is changed

_mistaken("reordered", change=_reordered)


# Which settings are tried

LEFT_OUT = ("coarse", "oblong", "border")  # what a test may leave out


def _without(parts):
    settings = [each for each in SETTINGS if "coarse" not in parts or each[-1] == 1]
    if "oblong" in parts:
        settings = [(max(each[:2]), max(each[:2]), *each[2:]) for each in settings]
    return {"settings": tuple(settings), "locate": _well_inside if "border" in parts else _anywhere}


_mistaken.without(LEFT_OUT, 2, _without)
