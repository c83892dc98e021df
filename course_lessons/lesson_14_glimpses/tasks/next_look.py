"""Task 14.next_look: from what a glimpse has shown to the next place to look at, and how probable that place was."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "from one look to the next",
    arguments=(
        "features B×D",
        "state B×D",
        "weight_features D×D",
        "weight_state D×D",
        "weight_location 2×D",
        "noise B×2",
        "std",
    ),
    result=("state B×D", "location B×2", "log_probability B"),
    gradient_not_asked=("features", "state", "noise"),  # what is promised is that the weights learn
    difficulty=3,
    importance=5,
    minutes=25,
    partial=USUAL,
)


@task.property
def locations_lie_in_the_picture(case, value):
    """Both numbers lie from -1 to 1."""
    most = value[1].abs().max().item()
    if most > 1:
        return f"Both coordinates of a location range from -1 to 1; one of yours is {most:.4g} away from 0."
    return None


def _inputs(draw, B, D, std, dtype=torch.float32):
    """The states are of ordinary size, so that some places lie outside the picture and most inside."""
    noise = draw.normal(B, 2, dtype=dtype)
    noise = noise + 0.25 * noise.sign()
    weights = (
        draw.normal(D, D, dtype=dtype) / D**0.5,
        draw.normal(D, D, dtype=dtype) / D**0.5,
        draw.normal(2, D, dtype=dtype) / D**0.5,
    )
    return draw.normal(B, D, dtype=dtype), draw.normal(B, D, dtype=dtype), *weights, noise, std


@task.cases
def _(draw):
    for size in sizes(B=5, D=7):
        yield Case(f"{size.B} of width {size.D}", _inputs(draw, size.B, size.D, 0.5), size.full)
    yield Case("a std of 0.2", _inputs(draw, 7, 3, 0.2), True)
    yield Case("a std of 2: many locations lie outside", _inputs(draw, 11, 5, 2.0), True)
    yield Case("two of width 2", _inputs(draw, 2, 2, 0.3))
    features, state, *rest = _inputs(draw, 3, 5, 0.5)
    yield Case("a state of zeros, as before the first look", (features, 0 * state, *rest), True)
    yield Case("a std that is a whole number", _inputs(draw, 3, 5, 1), edge=True)
    yield Case("a single look of width 1", _inputs(draw, 1, 1, 0.5), edge=True)
    *rest, noise, std = _inputs(draw, 3, 5, 0.5)
    yield Case("noise of zeros: a look at the mean", (*rest, 0 * noise, std), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 5, 3, 0.25, torch.float64), True, hazard=True)
