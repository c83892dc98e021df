"""Task 14.next_mean: where a step of REINFORCE will move the mean, told before it is made."""

from operator import add, mul, sub, truediv

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes

task = Task(
    "14.next_mean",
    "where the mean will move",
    arguments=("mean 2", "location B×2", "std", "reward B", "baseline B", "rate"),
    result="mean 2",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "A step of gradient descent moves the mean against the gradient of the loss. The loss is minus a mean of log densities, each multiplied by a plain number: how much better than expected the look turned out. You therefore need the gradient of one log density with respect to the mean. It points from the mean to the sampled location.",
        (
            "Take the mean (0, 0), a std of 0.5, a rate of 0.1 and two looks: (0.5, 0) with the reward 1 and (-0.5, 0.25) with the reward 0, with an expected reward of 0.5 both times. The differences from the mean, divided by 0.25, are (2, 0) and (-2, 1). Multiplied by 0.5 and -0.5, they become (1, 0) and (1, -0.5). "
            "Their mean is (1, -0.25), and the mean moves to (0.1, -0.025): towards the look that went well, away from the other."
        ),
        "for each look: push = (reward minus baseline) times (location minus mean) divided by std squared, two numbers; return mean plus rate times the mean of all pushes over the batch.",
    ),
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


@task.steps
def _(mean, location, std, reward, baseline, rate):
    surprise = yield "reward minus baseline", sub, reward, baseline
    away = yield "the location minus the mean", sub, location, mean
    variance = yield "std squared", pow, std, 2
    gradients = yield "the log densities' gradients", truediv, away, variance
    pushes = yield "the pushes of the looks", mul, surprise[:, None], gradients
    push = yield "the mean push", lambda pushes: pushes.mean(0), pushes
    moved = yield "the mean's step", mul, push, rate
    new = yield "the new mean", add, mean, moved
    return new


SURPRISE, VARIANCE, MEAN, NEW = "reward minus baseline", "std squared", "the mean push", "the new mean"
task.changed_each(
    ("baseline_forgotten", "You multiply by the reward itself. What matters is how much it exceeds the baseline.", {SURPRISE: left_out}),
    ("location_alone", "You push by the location itself. The gradient points from the mean to the location: subtract the mean.", {"the location minus the mean": left_out}),
    ("divided_by_std", "You divide by std. The gradient of the log density has std² in the denominator.", {VARIANCE: left_out}),
    ("summed", "You sum over the looks. The loss is their mean.", {MEAN: lambda pushes: pushes.sum(0)}),
    ("mean_over_x_and_y_too", "You also take the mean over x and y, so both coordinates move by the same amount. Take it only over the B looks.", {MEAN: lambda pushes: pushes.mean()}),
    ("for_each_look", "You return a mean for each look, B×2. All of them move one mean: take the mean of their pushes.", {MEAN: left_out}),
    ("rate_forgotten", "The rate is missing.", {"the mean's step": left_out}),
    ("push_alone", "You return how far the mean moves. Return where it is after the step.", {NEW: lambda mean, moved: moved}),
    ("twice_the_variance", "Your step is half as long as it should be. The gradient of the square has a factor of 2, which cancels the 2 in the denominator; and the loss is a mean over only the B looks, not also over x and y.", {VARIANCE: lambda std, two: 2 * std**2}),
    ("wrong_way", "The mean moves the wrong way: away from looks that turned out better than expected. Check three signs: reward minus baseline, location minus mean, and the step, in which the minus signs of loss and descent cancel.", {NEW: sub}),
    ("kept_in_the_picture", "You clamp the mean to between -1 and 1. Gradient descent knows nothing of the picture: return where the mean is.", {"result": lambda new: new.clamp(-1, 1)}),
    ("weighted_locations", "You return the mean of the locations, weighted by reward minus baseline. One step starts from the current mean.", {"result": lambda new, *, location, done: (done[SURPRISE][:, None] * location).mean(0)}),
)  # fmt: skip
