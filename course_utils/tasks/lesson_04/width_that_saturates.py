"""Task 04.width_that_saturates: how wide vectors have to be for the softmax of two dot products to be one-sided."""

from math import ceil, exp, log, sqrt

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "04.width_that_saturates",
    "the width at which a softmax saturates",
    arguments=("share",),
    result="width",
    difficulty=4,
    importance=4,
    minutes=20,
    hints=(
        "Go backwards, in two steps. By how much must one score be ahead of the other for this share? And at which width is a typical difference of two scores that large?",
        "Take three dice: a throw of one has a variance of 35/12. The sum of three has three times that, and so does the sum of two minus the third, since "
        "variances of uncorrelated numbers add up under a minus sign as well. Only then comes the root, which turns a variance into a standard deviation. And for the "
        "first step: with a share of 3/4 one score earns three times as much as the other, and e to the power of 1.0986 is 3.",
        "lead = the logarithm of share / (1 - share). The variance of one score is D, that of the difference of two is their sum. Begin with D = 1 and go "
        "up until the standard deviation of the difference reaches the lead; or solve for D and round up.",
    ),
)


def _lead(share):
    return log(share / (1 - share))


@task.cases
def _(draw):
    # What is rounded up lies below a half here and above it there, and never so near a whole number that rounding in float32 decides.
    for low, high, above in ((2, 5, 0.95), (2, 5, 0.3), (5, 12, 0.7), (12, 24, 0.3), (24, 40, 0.6)):
        exact = int(draw.whole(low, high)) + above
        share = 1 / (1 + exp(-sqrt(2 * exact)))
        yield Case(f"a share of {share:.4f}", (round(share, 6),))
    yield Case("a share that the smallest width reaches", (0.6,), edge=True)


@task.oracle
def _(share):
    # With an end: the judge also asks what comes of shares that no width reaches, such as twice the right one.
    return next(width for width in range(1, 1000) if 1 / (1 + exp(-sqrt(2 * width))) >= share)


@task.mistake(
    "You take the variance of one score, D. Softmax looks at the difference of two, and there the variances of both add up."
)
def one_score(share):
    return ceil(_lead(share) ** 2)


@task.mistake(
    "You round down, and at that width the share is not reached yet: the smallest width that reaches it is the next one."
)
def rounded_down(share):
    return max(1, int(_lead(share) ** 2 / 2))


@task.mistake("You round to the nearest whole number. Where that is below, the share is not reached yet: round up.")
def rounded_to_nearest(share):
    return max(1, round(_lead(share) ** 2 / 2))


@task.mistake("You go one too far: that width reaches the share, but the one before it does, too.")
def one_too_far(share):
    return ceil(_lead(share) ** 2 / 2) + 1


@task.mistake(
    "You compare the lead with the variance of the difference. The typical size of a difference is its standard deviation, the root of the variance."
)
def variance_for_deviation(share):
    return ceil(_lead(share) / 2)


@task.mistake(
    "You compare the lead with the variance of one score, D. It is the standard deviation of the difference of two that should reach the lead."
)
def variance_of_one_score(share):
    return ceil(_lead(share))


@task.mistake(
    "You double where the width is half: the variance of the difference, 2D, has to reach the square of the lead."
)
def doubled(share):
    return ceil(2 * _lead(share) ** 2)


@task.mistake(
    "You add up two standard deviations. Of uncorrelated numbers the variances add up, and the root is taken after that."
)
def deviations_added(share):
    return ceil((_lead(share) / 2) ** 2)


@task.mistake(
    "You take the logarithm of the smaller part alone. The lead is the logarithm of the ratio of the two parts, share / (1 - share)."
)
def logarithm_of_the_rest(share):
    return ceil(log(1 - share) ** 2 / 2)


@task.mistake(
    "Your width is always 1. Is the share itself, or its logarithm, compared with the standard deviation? Find the lead first that gives this share in the "
    "softmax: e to the power of the lead is the ratio of the larger part to the smaller, share / (1 - share)."
)
def share_for_lead(share):
    return max(1, ceil(share**2 / 2))


@task.mistake(
    "The width is a whole number, and this is not one yet. Round up: the smallest whole number that is large enough is asked for."
)
def not_rounded(share):
    return _lead(share) ** 2 / 2
