"""Task 20.mean_rates: the rates with which a delta rule holds the mean of all values of a key."""

from operator import eq, truediv

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "20.mean_rates",
    "rates for a memory of means",
    arguments=("key B×T",),
    result="rate B×T",
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "A write moves what the key reads a share β of the way to the new value. Think of a mean of n - 1 values: how far towards the nth value does it have to move?",
        "Take one key with the values 6, 8 and 1. The first rate is 1: the memory holds 6. The mean of 6 and 8 is 7, halfway from 6 to 8. The mean of all three is 5: from 7 to 1 the distance is -6, and -2 is a third of it. So the rates are 1, 0.5 and 0.3333. A step with a different key does not change this.",
        "same = B×T×T, True where two steps have the same key; set later steps to False; count how many are True in each row, the step itself included; return 1 divided by this count.",
    ),
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
    yield Case("a single step", (draw.whole(0, 5, 3, 1),), edge=True)
    yield Case("50 steps", (draw.whole(-2, 2, 2, 50),), edge=True)


def _count(same):
    return same.sum(2)


SAME, SO_FAR, RATES = "the steps with equal keys", "the equal keys so far", "the rates"


@task.steps
def _(key):
    same = yield SAME, eq, key[:, :, None], key[:, None]
    so_far = yield SO_FAR, torch.tril, same
    number = yield "the counts so far", _count, so_far
    rates = yield RATES, truediv, 1.0, number
    return rates


task.changed_each(
    ("latest", "All rates are 1, so the memory holds the latest value of each key. It should hold their mean.", {RATES: lambda one, number: torch.ones(number.shape)}),
    ("later_steps_too", "You count all steps that have this key, even later ones. Count up to the step itself.", {SO_FAR: left_out}),
    ("earlier_steps_alone", "You count only the steps before this one. The step itself also counts: the second value of a key has a rate of 1/2.", {SO_FAR: lambda same: same.tril(-1), RATES: lambda one, number: one / number.clamp(min=1)}),
    ("from_each_step_on", "You count from each step on instead of up to it, perhaps with `triu` instead of `tril` or along the other axis. Count the steps so far, the step itself included.", {SO_FAR: torch.triu}),
    ("earlier_steps_divide", "You divide by how often the key has occurred before this step, which is 0 at its first step, so the rate is infinite. The step itself also counts.", {SO_FAR: lambda same: same.tril(-1)}),
    ("different_keys_counted", "You count how many different keys have occurred so far. Count how often this key has occurred.", {RATES: lambda one, number, *, key: torch.stack([torch.tensor([1 / len(set(row[: t + 1])) for t in range(len(row))]) for row in key.tolist()])}),
    ("first_key_counted", "At every step, you count how often the first key of the sequence has occurred. Count the key of the step itself.", {"the counts so far": lambda so_far, *, key: (key == key[:, :1]).cumsum(1).clamp(min=1)}),
    ("first_sequence_for_all", "You use the first sequence's counts for all sequences. Each sequence has its own keys.", {"key": lambda key: key[:1].expand_as(key)}),
    ("every_step_counted", "You count all steps so far, whatever their key. A key's mean is over its own values: count the steps that have the same key.", {SAME: lambda key, other: torch.ones_like(key + other)}),
    ("share_that_stays", "You return the share that stays of the old mean, (n - 1)/n. The rate is how far a write moves it towards the new value: 1/n.", {RATES: lambda one, number: one - 1 / number}),
    ("first_value_kept", "The rate is 0 whenever a key recurs, so the memory holds its first value. It should hold the mean of all its values: the nth rate is 1/n.", {RATES: lambda one, number: (number == 1).float()}),
    ("always_half", "The rate is 1/2 whenever a key recurs, so later values count for more than earlier ones. For a mean the nth rate is 1/n.", {RATES: lambda one, number: 1 / number.clamp(max=2)}),
    ("halved", "You halve the rate each time the key recurs: 1, 1/2, 1/4. For a mean the nth rate is 1/n.", {RATES: lambda one, number: 0.5 ** (number - 1)}),
    ("one_too_many", "Your rates are 1/(n + 1): half at the first value of a key, as if the empty memory counted as a value of 0. The first rate is 1.", {RATES: lambda one, number: one / (number + 1)}),
    ("counts", "You return how often the key has occurred so far. The rate is 1 divided by this number.", {RATES: lambda one, number: number.float()}),
    ("over_the_batch", "You count over the sequences of the batch, axis 0, instead of the steps. Each sequence has its own memory: count along axis 1.", {"key": torch.t, "result": torch.t}),
    ("counted_on_between_sequences", "Your count continues from one sequence to the next, as if they shared one memory. Each sequence has its own: start again from 0 in each.", {"key": lambda key: key.reshape(1, -1), "result": lambda rates, *, key: rates.view(key.shape)}),
)  # fmt: skip


@task.mistake("You compare each key only with the previous one. The same key may have occurred at any earlier step.")
def neighbours_only(key):
    rates = torch.ones(key.shape)
    for t in range(1, key.shape[1]):
        again = key[:, t] == key[:, t - 1]
        rates[:, t] = torch.where(again, 1 / (1 / rates[:, t - 1] + 1), 1.0)
    return rates
