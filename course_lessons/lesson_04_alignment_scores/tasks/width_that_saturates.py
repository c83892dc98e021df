"""Task 04.width_that_saturates: how wide vectors have to be for the softmax of two dot products to be one-sided."""

from math import exp, sqrt

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "the width at which a softmax saturates",
    arguments=("share",),
    result="width",
    difficulty=4,
    importance=4,
    minutes=20,
)


@task.cases
def _(draw):
    # What is rounded up lies below a half here and above it there, and never so near a whole number that rounding in float32 decides.
    for low, high, above in ((2, 5, 0.95), (2, 5, 0.3), (5, 12, 0.7), (12, 24, 0.3), (24, 40, 0.6)):
        exact = int(draw.whole(low, high)) + above
        share = 1 / (1 + exp(-sqrt(2 * exact)))
        yield Case(f"a share of {share:.4f}", (round(share, 6),))
    yield Case("a share that the smallest width reaches", (0.6,), edge=True)
    yield Case("a share of 0.99998", (0.99998,), edge=True)
