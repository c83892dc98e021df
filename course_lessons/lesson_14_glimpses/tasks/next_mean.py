"""Task 14.next_mean: where a step of REINFORCE will move the mean, told before it is made."""

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "where the mean will move",
    arguments=("mean 2", "location B×2", "std", "reward B", "baseline B", "rate"),
    result="mean 2",
    difficulty=3,
    importance=4,
    minutes=20,
    partial=EDGE | SIDE_EFFECT,
)


def _inputs(draw, B, std, rate, dtype=torch.float32):
    mean = draw.normal(2, dtype=torch.float64) / 2
    reward, baseline = draw.normal(B, dtype=torch.float64) + 0.75, draw.normal(B, dtype=torch.float64) / 2 + 0.25
    location = mean + std * (draw.normal(B, 2, dtype=torch.float64) + 0.25)
    return mean.to(dtype), location.to(dtype), std, reward.to(dtype), baseline.to(dtype), rate


@task.cases
def _(draw):
    for size in sizes(B=5):
        yield Case(f"looks: {size.B}", _inputs(draw, size.B, 0.5, 0.25))
    yield Case("a std of 0.2", _inputs(draw, 7, 0.2, 0.125))
    yield Case("a std of 2", _inputs(draw, 11, 2.0, 0.75))
    yield Case("two looks", _inputs(draw, 2, 0.3, 0.25))
    mean, location, std, _, baseline, rate = _inputs(draw, 3, 0.5, 0.25)
    away = (location - mean).abs() + 0.125
    corner = torch.where(mean < 0, -0.875, 0.875)
    beyond = (corner, corner + away * corner.sign(), std, baseline + 1.5, baseline, rate)
    yield Case("a mean that moves out of the picture", beyond)
    mean, location, std, _, baseline, rate = _inputs(draw, 5, 0.5, 0.25)
    yield Case("rewards as expected", (mean, location, std, baseline.clone(), baseline, rate), edge=True)
    yield Case("a std and a rate that are whole numbers", _inputs(draw, 3, 2, 1), edge=True)
    yield Case("200 looks", _inputs(draw, 200, 0.3, 0.5), edge=True)
    yield Case("float64 numbers", _inputs(draw, 5, 0.25, 0.125, torch.float64), hazard=True)
