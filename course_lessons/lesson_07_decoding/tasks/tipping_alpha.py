"""Task 07.tipping_alpha: from which length penalty on a longer translation wins."""

from math import log
from operator import truediv

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "07.tipping_alpha",
    "how large alpha must be",
    arguments=("short_log_p", "short_length", "long_log_p", "long_length"),
    result="alpha",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "At the alpha that you are looking for, both translations have the same score. Write this as an equation. The sixes cancel, and a logarithm brings alpha down from the exponent. Then ask what a negative alpha means.",
        (
            "Take a short translation with a log probability of -3 and 7 tokens, and a long one with -6 and 19 tokens. The scores are equal where 6 / 3 = (24 / 12) to the power of alpha, and 2 = 2 to the power of alpha gives alpha = 1. If the long one "
            "has -12, then 4 = 2 to the power of alpha, and alpha = 2. If it has -2.5, it is already the more probable of the two, so alpha = 0 is enough."
        ),
        "lead = logarithm of (long log probability over short log probability); gain = logarithm of (5 + long length over 5 + short length); return lead over gain, but no less than 0.",
    ),
)


def _score(log_p, length, alpha):
    return log_p / ((5 + length) / 6) ** alpha


@task.property
def both_score_alike(case, value):
    """At an alpha above 0 no score is ahead."""
    short_log_p, short_length, long_log_p, long_length = case.args
    short, long = _score(short_log_p, short_length, value), _score(long_log_p, long_length, value)
    if not 0 < value < 50 or abs(short - long) <= 1e-3 * abs(short):
        return None
    return f"With your alpha of {value:.4g}, the short translation scores {short:.4g} and the long one {long:.4g}. At the smallest alpha that is enough, the two scores are equal, unless that alpha is 0."


@task.property
def not_found_by_steps(case, value):
    """Steps of 0.1, 0.01 or 0.001 reach the next larger multiple."""
    right = task.oracle_function(*case.args)
    for step in (0.1, 0.01, 0.001):
        if 1e-5 < value - right < step and abs(value / step - round(value / step)) < 1e-4:
            return f"Your alpha is right up to a step of {step:g}. Trying one alpha after another finds it only roughly: set the two scores equal and solve for alpha."
    return None


@task.property
def never_below_0(case, value):
    """An alpha below 0 is not asked for."""
    return (
        f"Your alpha is {value:.4g}. It should not be below 0: the long translation already wins without a penalty, so the smallest alpha from 0 on is 0."
        if value < 0
        else None
    )


@task.cases
def _(draw):
    def lengths():
        short = int(draw.whole(2, 12))
        return short, short + int(draw.whole(2, 15))

    def number(low, high):
        return int(draw.whole(low, high)) + int(draw.whole(11, 89)) / 100

    for times in (1.3, 1.7, 2.6, 4.2):
        (m, n), a = lengths(), -number(2, 9)
        yield Case(f"{m} and {n} tokens, the short one more probable", (a, m, a * (times + number(0, 2) / 10), n))
    (m, n), a = lengths(), -number(4, 9)
    yield Case(f"{m} and {n} tokens, the long one more probable", (a, m, a * 0.7, n))
    (m, n), a = lengths(), -number(2, 9)
    yield Case(f"{m} and {n} tokens, equally probable", (a, m, a, n), edge=True)
    yield Case("one token against 200", (-number(2, 4), 1, -number(60, 90), 200), edge=True)
    yield Case("one token more", (-number(2, 4), 9, -number(5, 7), 10), edge=True)


RATIO, LENGTHS = "the ratio of the log probabilities", "the ratio of the lengths"
LEAD, GAIN = "the first logarithm", "the second logarithm"
QUOTIENT, ALPHA = "the quotient of the logarithms", "the quotient, at least 0"


@task.steps
def _(short_log_p, short_length, long_log_p, long_length):
    ratio = yield RATIO, truediv, long_log_p, short_log_p
    lengths = yield LENGTHS, lambda n, m: (5 + n) / (5 + m), long_length, short_length
    lead = yield LEAD, log, ratio
    gain = yield GAIN, log, lengths
    quotient = yield QUOTIENT, truediv, lead, gain
    alpha = yield ALPHA, lambda quotient: max(0.0, quotient), quotient
    return alpha


task.changed(
    "quotient_turned_round",
    "You divide the two logarithms the wrong way round. The logarithm of the ratio of the log probabilities belongs in the numerator.",
    {QUOTIENT: lambda lead, gain: gain / lead if lead else 0.0},
)
for name, sentence, plus in (
    ("without_five", "The 5 is missing: the penalty compares 5 + length, not the lengths themselves.", 0),
    ("six_added", "You add 6 to the lengths instead of 5. The 6 in the denominator cancels.", 6),
):  # fmt: skip
    task.changed(name, sentence, {LENGTHS: lambda n, m, plus=plus: (plus + n) / (plus + m)})
task.changed(
    "difference_of_log_probabilities",
    "You divide the difference of the log probabilities by the difference of the logarithms. Scores are quotients: take the logarithm of the ratio of the log probabilities.",
    {LEAD: lambda ratio, *, short_log_p, long_log_p: short_log_p - long_log_p},
)
task.changed(
    "without_logarithms",
    "You divide the two ratios. Alpha is an exponent: take the logarithm of both before you divide.",
    {QUOTIENT: lambda lead, gain, *, done: done[RATIO] / done[LENGTHS] if lead > 0 else 0.0},
)
task.changed_each(
    ("below_0", "Your alpha is below 0 when the long translation already wins without a penalty. The smallest non-negative alpha is then 0.", {ALPHA: left_out}),
    ("sign_left_out", "You drop the sign of alpha. If alpha is negative, the long translation already wins, and the answer is 0.", {ALPHA: abs}),
    ("lengths_without_logarithm", "You do not take the logarithm of the ratio of the lengths. Alpha is its exponent, so take the logarithm of both ratios.", {GAIN: left_out}),
    ("at_most_1", "Your alpha never exceeds 1. Some pairs need more: return the result, however large.", {"result": lambda alpha: min(1.0, alpha)}),
)  # fmt: skip
