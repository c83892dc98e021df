"""Task 03.causal_mask: no look into the future."""

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "no look into the future",
    arguments=("size",),
    result="mask size×size",
    difficulty=1,
    importance=4,
    minutes=5,
)


@task.cases
def _(draw):
    for low, high in ((2, 4), (4, 12), (12, 40)):
        size = int(draw.whole(low, high))
        yield Case(f"size {size}", (size,))
    yield Case("size 1", (1,), edge=True)
    yield Case("size 300", (300,), edge=True)
