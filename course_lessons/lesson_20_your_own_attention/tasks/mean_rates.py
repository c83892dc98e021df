"""Task 20.mean_rates: the rates with which a delta rule holds the mean of all values of a key."""

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "rates for a memory of means",
    arguments=("key B×T",),
    result="rate B×T",
    difficulty=3,
    importance=4,
    minutes=15,
    partial=EDGE | SIDE_EFFECT,
)


@task.property
def the_nth_rate_of_a_key_is_one_over_n(case, value):
    """Where a rate is wrong first."""
    (key,) = case.args
    right = task.oracle_function(key)
    if value.shape != right.shape or not ((value - right).abs() > 1e-4).any():
        return None
    b, t = ((value - right).abs() > 1e-4).nonzero()[0].tolist()
    n = round(1 / float(right[b, t]))
    times = f"{n} times" if n > 1 else "once"
    return f"In sequence {b}, the key of step {t} has occurred {times} so far, step {t} included, so its rate should be 1/{n}."


@task.cases
def _(draw):
    yield Case("one key at all of 6 steps", (draw.whole(0, 6, 1, 1).expand(1, 6).clone(),))
    for size in sizes(B=3, T=11):
        T = size.T if size.full else size.T + 4
        yield Case(f"{count(size.B, 'sequence')} of {T} steps", (draw.whole(3, 6, size.B, T),))
    yield Case("as many sequences as steps", (draw.whole(0, 3, 7, 7),))
    yield Case("the same keys in two sequences", (draw.whole(0, 3, 1, 9).repeat(2, 1),))
    large = draw.distinct(3, -5000, 5000)
    yield Case("keys of several digits", (large[draw.whole(0, 3, 2, 9)],))
    yield Case("a single step", (draw.whole(0, 5, 3, 1),), edge=True)
    yield Case("50 steps", (draw.whole(-2, 2, 2, 50),), edge=True)


@task.mistake()
def neighbours_only(key):
    rates = torch.ones(key.shape)
    for t in range(1, key.shape[1]):
        again = key[:, t] == key[:, t - 1]
        rates[:, t] = torch.where(again, 1 / (1 / rates[:, t - 1] + 1), 1.0)
    return rates
