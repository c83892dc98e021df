"""Task 02.dot_scores: fixed attention: one dot product per word."""

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "fixed attention: one dot product per word",
    arguments=("words B×S×D", "theta D"),
    result="scores B×S",
    difficulty=1,
    importance=4,
    minutes=5,
)


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of {S} words, width {D}"
        yield Case(name, (draw.numbers(B, S, D), draw.numbers(D)), size.full)
    yield Case("sentences of one word, width 1", (draw.numbers(2, 1, 1), draw.numbers(1)), edge=True)
    yield Case("large numbers", (100 * (draw.numbers(2, 3, 2) + 0.25), draw.numbers(2) + 0.25), edge=True)
