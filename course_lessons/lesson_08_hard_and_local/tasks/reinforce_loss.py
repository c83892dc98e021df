"""Task 08.reinforce_loss: the loss whose gradient makes picks with a good reward more probable."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "the loss that teaches hard attention",
    arguments=("log_probability B", "reward B", "baseline B"),
    result="loss",
    difficulty=2,
    importance=5,
    minutes=10,
    partial=USUAL,
)


@task.property
def not_divided_by_the_spread(case, value):
    """The differences are used as they are."""
    log_probability, reward, baseline = (numbers.double() for numbers in case.args)
    advantage = reward - baseline
    right = -(advantage * log_probability).mean()
    spreads = [advantage.std(correction=n).item() for n in (0, 1)] if len(reward) > 4 else []
    if any(abs(spread - 1) > 0.01 < abs(right) and abs(value.item() * spread / right - 1) < 1e-4 for spread in spreads):
        return (
            f"For the input “{case.name}” your loss is the right one divided by the standard deviation of reward minus baseline. That is sometimes done, but it gives a different gradient, and for a single pick this standard deviation is 0 or NaN. Use the "
            "differences as they are."
        )
    return None


def _inputs(draw, B):
    reward = draw.numbers(B) + 1
    reward[-1] += 1.0  # so that not all are alike
    return -draw.numbers(B).abs() - 0.25, reward, draw.numbers(B) / 2 + 0.125


@task.cases
def _(draw):
    for size in sizes(B=3):
        yield Case(count(size.B, "pick"), _inputs(draw, size.B), size.full)
    for B in (5, 13):
        yield Case(count(B, "pick"), _inputs(draw, B), True)
    log_probability, reward, _ = _inputs(draw, 7)
    yield Case("no baseline", (log_probability, reward, torch.zeros(7)))
    yield Case("rewards of up to a hundred", (log_probability, 30 * reward, torch.full((7,), 20.5)))
    hits = torch.tensor([1.0, 0.0, 0.0, 1.0, 1.0])[draw.distinct(5, 0, 5)]
    yield Case("rewards of 0 and 1, one baseline for all", (log_probability[:5], hits, torch.full((5,), 0.375)))
    yield Case("a single pick", _inputs(draw, 1), True, edge=True)
    yield Case("rewards that are what was expected", (log_probability, reward, reward.clone()), True, edge=True)
    certain = (torch.zeros(3), *_inputs(draw, 3)[1:])
    yield Case("picks of probability 1", certain, True, edge=True)
    improbable = torch.tensor([-1e4, -5e3, -0.5])[draw.distinct(3, 0, 3)]
    yield Case("log probabilities of -10,000", (improbable, *_inputs(draw, 3)[1:]), True, hazard=True)
    yield Case("200 picks", _inputs(draw, 200), True, edge=True)


def normalised(difference):
    """Take the place of the advantage: its mean subtracted, divided by its standard deviation."""
    centred = difference - difference.mean()
    spread = (centred.square().sum() / (len(centred) - 1)).sqrt()  # as torch.std, without its warning for a single pick
    return centred / (spread + 1e-8)
