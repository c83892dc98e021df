"""Task 90.layer_cost: a tuple of whole numbers, and a number."""

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "what self-attention costs",
    arguments=("n", "d"),
    result=("multiplications", "steps", "share"),
    difficulty=1,
    importance=2,
    minutes=5,
)


@task.cases
def _(draw):
    for n, d in ((2, 3), (5, 7), (13, 11)):
        yield Case(f"{n} words, width {d}", (n, d))


@task.oracle
def _(n, d):
    return sum(d for _ in range(n) for _ in range(n)), 1, n / d


@task.mistake()
def linear(n, d):
    return n * d, 1, n / d


@task.mistake()
def exchanged(n, d):
    return d * d * n, 1, d / n


@task.mistake()
def sequential(n, d):
    return n * n * d, n, n / d
