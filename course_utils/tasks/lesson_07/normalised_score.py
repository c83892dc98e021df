"""Task 07.normalised_score: a log probability that does not favour short translations."""

from operator import truediv

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "07.normalised_score",
    "a score that lets long translations win",
    arguments=("log_probability", "length", "alpha"),
    result="score",
    difficulty=1,
    importance=3,
    minutes=5,
    hints=(
        "Every further word makes a translation less probable, so the log probability alone favours short ones. We divide it by a penalty that grows with the length; alpha says how fast it grows.",
        (
            "Take a log probability of -6, a length of 7 and alpha = 1. The penalty is (5 + 7) / 6 = 2, and the score is -6 / 2 = -3. With alpha = 2 the penalty is 2 squared, which is 4, and the score "
            "is -1.5. With alpha = 0 the penalty is 1, and the score is -6, as it was."
        ),
        "base = 5 plus the length, divided by 6; penalty = base to the power of alpha; return the log probability divided by the penalty.",
    ),
)


@task.property
def a_longer_one_gains(case, value):
    """A penalty above 1 makes a negative number less negative."""
    log_probability, length, alpha = case.args
    return (
        f"A log probability is negative, and a longer translation should be compensated for its length: the score of one with {length} words and alpha = {alpha:g} should lie above its log probability, "
        f"{log_probability:g}. Yours does not."
        if alpha > 0 and length > 1 and log_probability < 0 and value < log_probability
        else None
    )


@task.property
def one_word_stays_as_it_is(case, value):
    """With one word the penalty is 6 / 6."""
    log_probability, length, alpha = case.args
    return (
        f"With a single word the penalty is (5 + 1) / 6, which is 1, so the score is the log probability, {log_probability:g}; yours is {value:.4g}. Look at the numbers 5 and 6, and at what is raised "
        "to which power."
        if length == 1 and abs(value - log_probability) > 1e-4
        else None
    )


def _number(draw, low, high):
    """A number with two digits behind the point, that is not whole."""
    return int(draw.whole(low, high)) + int(draw.whole(11, 89)) / 100


@task.cases
def _(draw):
    yield Case("alpha = 1", (-int(draw.whole(2, 9)) / 2, int(draw.whole(3, 12)), 1))
    for length in draw.distinct(5, 2, 40).tolist():
        alpha = _number(draw, 0, 2)
        yield Case(f"{length} words, alpha = {alpha:g}", (-_number(draw, 2, 30), length, alpha))
    yield Case("a single word", (-_number(draw, 1, 5), 1, _number(draw, 0, 2)), edge=True)
    yield Case("alpha = 0", (-_number(draw, 2, 30), int(draw.whole(2, 40)), 0), edge=True)
    yield Case("200 words", (-_number(draw, 100, 300), 200, 0.6), edge=True)
    yield Case("a certain translation", (0.0, int(draw.whole(2, 40)), 0.7), edge=True)


@task.oracle
def _(log_probability, length, alpha):
    return log_probability * (6 / (5 + length)) ** alpha


@task.steps
def _(log_probability, length, alpha):
    longer = yield "5 plus the length", lambda length: 5 + length, length
    base = yield "5 plus the length, divided by 6", lambda longer: longer / 6, longer
    penalty = yield "the penalty", lambda base, alpha: base**alpha, base, alpha
    score = yield "the quotient", truediv, log_probability, penalty
    return score


def _penalty(length, alpha):
    return ((5 + length) / 6) ** alpha


@task.mistake(
    "You multiply by the penalty. A log probability is negative, so that lowers the score of long translations still further: divide."
)
def multiplied(log_probability, length, alpha):
    return log_probability * _penalty(length, alpha)


@task.mistake("You subtract the penalty from the log probability. Divide by it.")
def subtracted(log_probability, length, alpha):
    return log_probability - _penalty(length, alpha)


@task.mistake("(5 + length) / 6 is rounded down to a whole number, as `//` does. Divide with `/`.")
def base_rounded_down(log_probability, length, alpha):
    return log_probability / ((5 + length) // 6) ** alpha


@task.mistake("The score is rounded down to a whole number, as `//` does. Divide by the penalty with `/`.")
def score_rounded_down(log_probability, length, alpha):
    return log_probability // _penalty(length, alpha)


@task.mistake("You return the penalty. Divide the log probability by it.")
def penalty_alone(log_probability, length, alpha):
    return _penalty(length, alpha)


@task.mistake("alpha has no effect: you divide by (5 + length) / 6 as it is. Raise it to the power of alpha first.")
def alpha_unused(log_probability, length, alpha):
    return log_probability / ((5 + length) / 6)


@task.mistake("You multiply by alpha where (5 + length) / 6 should be raised to the power of alpha, with `**`.")
def times_alpha(log_probability, length, alpha):
    return log_probability / ((5 + length) / 6 * alpha) if alpha else log_probability


@task.mistake(
    "You divide by the length to the power of alpha. That is another penalty, which is also in use: here it is (5 + length) / 6 to the power of alpha."
)
def length_to_the_power(log_probability, length, alpha):
    return log_probability / length**alpha


@task.mistake("This is the mean per word. Divide by (5 + length) / 6 to the power of alpha instead of the length.")
def mean_per_word(log_probability, length, alpha):
    return log_probability / length


@task.mistake(
    "Only the sum is raised to the power of alpha, and the 6 is not. Divide by 6 first, then raise the quotient."
)
def power_before_the_quotient(log_probability, length, alpha):
    return log_probability / ((5 + length) ** alpha / 6)


@task.mistake("Only the length is divided by 6: a pair of brackets around 5 + length is missing.")
def brackets_missing(log_probability, length, alpha):
    return log_probability / (5 + length / 6) ** alpha


@task.mistake("The 6 is missing: you divide by 5 + length to the power of alpha.")
def without_six(log_probability, length, alpha):
    return log_probability / (5 + length) ** alpha


@task.mistake("The 5 is missing: you divide by length / 6 to the power of alpha.")
def without_five(log_probability, length, alpha):
    return log_probability / (length / 6) ** alpha


@task.mistake(
    "You raise the whole quotient to the power of alpha. The log probability is not part of what is raised: compute the penalty first, then divide. In Python a negative number to a power that is not "
    "whole even becomes a complex number."
)
def everything_raised(log_probability, length, alpha):
    return (log_probability / ((5 + length) / 6)) ** alpha


@task.mistake("You add 6 to the length, and 5 is to be added. Count no word beyond those that the length counts.")
def one_word_more(log_probability, length, alpha):
    return log_probability / _penalty(length + 1, alpha)


@task.mistake("You add 4 to the length, and 5 is to be added: the length is used as it is given.")
def one_word_less(log_probability, length, alpha):
    return log_probability / _penalty(length - 1, alpha)


@task.mistake("The exponent is the length. It should be alpha: the length belongs in the base.")
def length_as_exponent(log_probability, length, alpha):
    return log_probability / ((5 + length) / 6) ** length


@task.mistake("You divide the length by the penalty. It is the log probability that is divided.")
def length_divided(log_probability, length, alpha):
    return length / _penalty(length, alpha)


@task.mistake("You divide the penalty by the log probability. It is the other way round.")
def quotient_turned_round(log_probability, length, alpha):
    return _penalty(length, alpha) / log_probability
