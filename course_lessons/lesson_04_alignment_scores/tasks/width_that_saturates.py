"""Task 04.width_that_saturates: how wide vectors have to be for the softmax of two dot products to be one-sided."""

from math import ceil, exp, log, sqrt

from course_utils.checks.reference_trace import left_out
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
        "Work backwards, in two steps. By how much must one score be ahead of the other for this share? And at which width is a typical difference between two scores that large?",
        "Take three dice: one throw has a variance of 35/12. The sum of three throws has three times this variance, and so does the sum of two minus the third, since the variances of uncorrelated numbers add even where a number is subtracted. Only then take the square root, which turns a variance into a standard deviation. For the "
        "first step: with a share of 3/4, one score earns three times as much weight as the other, and e to the power of 1.0986 is 3.",
        "lead = the logarithm of share / (1 - share). The variance of one score is D, and the variance of the difference between two scores is the sum of their variances. Begin with D = 1 and increase "
        "D until the standard deviation of the difference reaches the lead; or solve for D and round up.",
    ),
)


@task.cases
def _(draw):
    # What is rounded up lies below a half here and above it there, and never so near a whole number that rounding in float32 decides.
    for low, high, above in ((2, 5, 0.95), (2, 5, 0.3), (5, 12, 0.7), (12, 24, 0.3), (24, 40, 0.6)):
        exact = int(draw.whole(low, high)) + above
        share = 1 / (1 + exp(-sqrt(2 * exact)))
        yield Case(f"a share of {share:.4f}", (round(share, 6),))
    yield Case("a share that the smallest width reaches", (0.6,), edge=True)


@task.steps
def _(share):
    lead = yield "the lead", lambda share: log(share / (1 - share)), share
    exact = yield "the number before rounding", lambda lead: lead**2 / 2, lead
    width = yield "the width", ceil, exact
    return width


task.changed_each(
    ("one_score", "You use the variance of one score, D. The softmax depends on the difference between two scores, whose variances add up.", {"the number before rounding": lambda lead: lead**2}),
    ("variance_for_deviation", "You compare the lead with the variance of the difference. The typical size of a difference is its standard deviation, the root of the variance.", {"the number before rounding": lambda lead: lead / 2}),
    ("variance_of_one_score", "You compare the lead with the variance of one score, D. What should reach the lead is the standard deviation of the difference between two scores.", {"the number before rounding": left_out}),
    ("doubled", "You double where you should halve: the variance of the difference, 2D, has to reach the square of the lead.", {"the number before rounding": lambda lead: 2 * lead**2}),
    ("deviations_added", "You add up two standard deviations. For uncorrelated numbers, variances add; take the root afterwards.", {"the number before rounding": lambda lead: (lead / 2) ** 2}),
    ("rounded_down", "You round down, and at that width the share is not yet reached. The next width is the smallest that reaches it.", {"the width": lambda exact: max(1, int(exact))}),
    ("rounded_to_nearest", "You round to the nearest whole number. If that number is lower, the share is not yet reached: round up.", {"the width": lambda exact: max(1, round(exact))}),
    ("one_too_far", "Your width is one too large: it reaches the share, but so does the width below it.", {"the width": lambda exact: ceil(exact) + 1}),
    ("not_rounded", "The width should be a whole number. Round up: return the smallest whole number that is large enough.", {"the width": left_out}),
)  # fmt: skip
task.changed(
    "logarithm_of_the_rest",
    "You take the logarithm of the smaller part alone. The lead is the logarithm of the ratio of the two parts, share / (1 - share).",
    {"the lead": lambda share: log(1 - share)},
)
task.changed(
    "share_for_lead",
    "Your width is always 1. Do you compare the share itself, or its logarithm, with the standard deviation? First find the lead that gives this share in the softmax: e to the power of the lead is the ratio of the larger part to the smaller, share / (1 - share).",
    {"the lead": left_out},
)
