"""Task 13.catch_wrong_step: a test that tells right steps of training from wrong."""

from functools import wraps

import torch

from course_utils.checks.running.contract import NotAsAsked
from course_utils.checks.task import Task
from course_utils.lessons.lesson_13._training import RARE, RIGHT, WRONG, by_hand
from course_utils.lessons.shared.candidates import (
    close,
    mistakes_of_comparing,
    mistakes_of_tests,
    one_case_each,
    tests_without,
)

MOST = 100  # batches in a call


def _asking(train):
    """A candidate that says where a test breaks the rules of the prompt, be it right or wrong."""

    @wraps(train)
    def candidate(weight, batches, rate, clip):
        problem = _problem(weight, batches, rate, clip)
        if problem:
            raise NotAsAsked(problem)
        with torch.enable_grad():
            return train(weight.detach(), [tuple(batch) for batch in batches], float(rate), float(clip))

    return candidate


def _finite(tensor, axes):
    return (
        isinstance(tensor, torch.Tensor)
        and tensor.dtype == torch.float32
        and tensor.dim() == axes
        and tensor.numel()
        and tensor.isfinite().all()
    )


def _problem(weight, batches, rate, clip):
    """What is wrong with the arguments that a test gives to a candidate; None for nothing."""
    if not _finite(weight, 2) or weight.shape[1] < 2:
        return "Your test calls a candidate with a `weight` that is no float32 tensor of finite numbers, D×V, with V of 2 or more."
    if not isinstance(batches, (list, tuple)) or not 1 <= len(batches) <= MOST:
        return f"Your test calls a candidate with `batches` that are no list of 1 to {MOST} batches."
    for batch in batches:
        if not isinstance(batch, (list, tuple)) or len(batch) != 3:
            return "Your test calls a candidate with a batch that is no tuple of three tensors: x, target and mask."
        x, target, mask = batch
        if not _finite(x, 2) or x.shape[1] != len(weight):
            return "Your test calls a candidate with an `x` that is no float32 tensor of finite numbers, N×D, where D is the number of rows of `weight`."
        if (
            not isinstance(mask, torch.Tensor)
            or mask.dtype != torch.bool
            or mask.shape != x.shape[:1]
            or not mask.any()
        ):
            return "Your test calls a candidate with a `mask` that is no tensor of N truth values, one of which at least is True."
        if not isinstance(target, torch.Tensor) or target.dtype != torch.int64 or target.shape != x.shape[:1]:
            return "Your test calls a candidate with a `target` that is no tensor of N ids (torch.int64)."
        if target.min() < 0 or target.max() >= weight.shape[1]:
            return "Your test calls a candidate with a `target` that holds other ids than those from 0 to V - 1. Padding has such an id, too."
    if not _number(rate) or not 0 < rate <= 1 or not _number(clip) or clip <= 0:
        return "Your test calls a candidate with another `rate` than a number above 0, at most 1, or with another `clip` than a number above 0."
    return None


def _number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


CANDIDATES = tuple(map(_asking, (*RIGHT, *WRONG, *RARE)))

task = Task(
    "13.catch_wrong_step",
    "a test that tells right training steps from wrong",
    arguments=("train",),
    result="verdict",
    candidates=CANDIDATES,
    difficulty=4,
    importance=5,
    minutes=35,
    hints=(
        "A wrong step of training still makes the loss fall, so look at the weights. Write the steps yourself, as plainly as you can, and compare all weights that come back with yours. The work is then in the inputs: in which of them does a step that breaks one of the promises give other weights than a right one?",
        (
            "Take a weight of two numbers and the gradient [3, 4], whose norm is 5. With clip = 1 it becomes [0.6, 0.8]; clipped number by number it would be [1, 1]. With clip = 10 both leave it as it is, and so does a candidate that never clips. With clip = 1 alone, one that always divides by the norm looks right: with clip = 10 it gives [6, 8]. So you need both."
        ),
        "Make a random weight D×V and three batches with different numbers of rows, each with a mask that is False in some places, also before a True. For a small clip and for a large one: expected = your own steps; given = a copy of weight; in a `try` that returns False on any exception: came = train(given, batches, rate, clip); there are as many as expected; each has the shape of weight and agrees up to 1e-5; given is still equal to weight.",
    ),
)


one_case_each(task, RIGHT, WRONG, RARE)


def _batches(sizes, padding_last=False):
    """Batches with so many rows, of which so many are real."""
    draw, batches = torch.Generator().manual_seed(3), []
    for rows, real in sizes:
        x, target = torch.randn(rows, 3, generator=draw), torch.randint(0, 4, (rows,), generator=draw)
        batches.append((x, target, torch.arange(rows) < real if padding_last else torch.arange(rows) >= rows - real))
    return batches


SIZES = ((5, 3), (4, 1), (6, 4), (3, 2))
BATCHES = _batches(SIZES)
WEIGHT = torch.randn(3, 4, generator=torch.Generator().manual_seed(5))


def _all(same):
    """Compare two lists of tensors, of which each pair should be the same."""
    return lambda right, came: len(right) == len(came) and all(map(same, right, came))


_all_close = _all(close)


def _test(train, batches=BATCHES, clips=(0.1, 100.0), compare=_all_close, altered=True):
    """A test like the solution's, whose promises may be dropped or weakened."""
    try:
        for clip in clips:
            given = WEIGHT.clone()
            if not compare(by_hand(WEIGHT, batches, 0.5, clip), train(given, batches, 0.5, clip)):
                return False
            if altered and not torch.equal(given, WEIGHT):
                return False
        return True
    except Exception:
        return False


_mistaken = mistakes_of_tests(
    task,
    _test,
    "candidate",
    "It may be that your own steps are wrong, or that an error of the test's own ends in `except`, which returns False.",
)


# How weights are compared

mistakes_of_comparing(
    _mistaken,
    "candidate",
    "Right candidates whose last digits differ from yours are refused.",
    "Candidates whose weights are only nearly right pass your test, such as one that rounds them to three digits",
    0.03,
    lambda same: {"compare": _all(same)},
)
_mistaken(
    "runs_at_all",
    "Every candidate that returns as many finite weights of the right shape as there are batches, and leaves the given one as it is, passes your test. Compare the numbers with those of your own steps.",
    compare=_all(lambda a, b: a.shape == b.shape and bool(b.isfinite().all())),
)
_mistaken(
    "last_weight_alone",
    "Candidates that return wrong weights for earlier steps, such as the last one again and again, pass your test, since you compare the last weight alone. Compare those after every step, and their number.",
    compare=lambda right, came: close(right[-1], came[-1]),
)
_mistaken(
    "number_of_weights_unchecked",
    "A candidate that returns more weights than there are steps, or fewer, passes your test, since `zip` ends with the shorter list. Compare the lengths as well.",
    compare=lambda right, came: all(map(close, right, came)),
)

# Which inputs are tried

_mistaken(
    "padding_at_the_end",
    "A candidate that takes as many rows from the front as there are real ones passes your test, since all your padding is at the end. Let a mask be False before a True as well.",
    batches=_batches(SIZES, padding_last=True),
)
_mistaken(
    "rows_alike",
    "Candidates that fail where batches differ in size pass your test, since all your batches have as many rows and as many real ones. Let them differ.",
    batches=_batches(((5, 3),) * 4),
)


@task.mistake(
    "Your test asks only that the loss falls, and it falls with most wrong steps, too: candidates with wrong weights pass your test. Compare the weights with those of your own steps."
)
def loss_falls(train):
    x, target, mask = (torch.cat(parts) for parts in zip(*BATCHES, strict=True))
    loss = lambda weight: torch.nn.functional.cross_entropy(x[mask] @ weight, target[mask])  # noqa: E731
    try:
        return bool(loss(train(WEIGHT.clone(), BATCHES, 0.5, 100.0)[-1]) < loss(WEIGHT))
    except Exception:
        return False


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "batches": ("candidates that go wrong from the second batch on", "Give several batches."),
    "padding": ("candidates that count padding", "Let masks be False in some places."),
    "small": ("candidates that do not clip the gradient, or clip something else", "Try a clip below the norm of the gradients as well."),
    "altered": ("candidates that alter the weight that they are given", "Look whether the given weight is as it was."),
    "large": ("candidates that change gradients which are within the limit", "Try a clip above the norm of the gradients as well."),
}  # fmt: skip


def _without(parts):
    batches = BATCHES[:1] if "batches" in parts else BATCHES
    if "padding" in parts:
        batches = [(x, target, mask | True) for x, target, mask in batches]
    clips = tuple(clip for name, clip in (("small", 0.1), ("large", 100.0)) if name not in parts)
    return lambda train: _test(train, batches, clips, altered="altered" not in parts)


tests_without(task, LEFT_OUT, _without, 2, never_both=("small", "large"))
