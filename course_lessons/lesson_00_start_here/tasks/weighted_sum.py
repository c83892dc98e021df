"""Task 00.weighted_sum: a weighted sum of vectors."""

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "a weighted sum of vectors",
    arguments=("weights S", "values S×D"),
    result="sum D",
    difficulty=1,
    importance=5,
    minutes=5,
    gradient_optional=True,  # the first exercise says nothing of gradients
)


def _weights(draw, S):
    """Weights whose sum is not 0, 1 or S, and not all of them alike: each mistake shows in numbers that can be read."""
    while True:
        weights = draw.numbers(S)
        if weights.sum() not in (0, 1, S) and (S == 1 or weights.unique().numel() > 1):
            return weights


@task.cases
def _(draw):
    for size in sizes(S=13, D=3):
        name = f"{count(size.S, 'vector')} of width {size.D}"
        yield Case(name, (_weights(draw, size.S), draw.numbers(size.S, size.D)), size.full)
    yield Case("a single vector", (_weights(draw, 1), draw.numbers(1, 3)), edge=True)
    yield Case("vectors of width 1", (_weights(draw, 3), draw.numbers(3, 1)), edge=True)
