"""Task 07.tipping_alpha: from which length penalty on a longer translation wins."""

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "how large alpha must be",
    arguments=("short_log_p", "short_length", "long_log_p", "long_length"),
    result="alpha",
    difficulty=2,
    importance=3,
    minutes=10,
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
def not_rounded_up(case, value):
    """Rounding up, and trying one step after another, reach the next larger multiple of 1, 0.1, 0.01 or 0.001."""
    right = task.oracle_function(*case.args)
    fits = [
        f"{step:g}"
        for step in (0.001, 0.01, 0.1, 1)
        if 1e-5 < value - right < step and abs(value / step - round(value / step)) < 1e-4
    ]
    if not fits:
        return None
    return f"Your alpha is the right one, rounded up to a multiple of {' or '.join(fits)}, as if you tried one alpha after another. Set the two scores equal and solve for alpha."


@task.property
def never_below_0(case, value):
    """An alpha below 0 is not asked for."""
    if value < 0:
        return f"Your alpha is {value:.4g}. It should not be below 0: the long translation already wins without a penalty, so the smallest alpha from 0 on is 0."
    return None


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
    yield Case("one token more", (-number(2, 4), 20, -number(8, 10), 21), edge=True)
