"""Task 10.merge_heads: what each head adds to the output, where the heads would be put side by side and projected."""

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "what each head adds to the output",
    arguments=("x B×H×T×d", "out_weight D×D"),
    result="shares B×H×T×D",
    difficulty=3,
    importance=4,
    minutes=20,
)


def _inputs(draw, B, H, T, d):
    return draw.numbers(B, H, T, d), draw.numbers(H * d, H * d)


@task.cases
def _(draw):
    for size in sizes(B=2, H=3, T=5, d=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, {size.H} heads of width {size.d}"
        yield Case(name, _inputs(draw, size.B, size.H, size.T, size.d), size.full)
    yield Case("as many sentences as words, heads and entries in a part", _inputs(draw, 3, 3, 3, 3))
    yield Case("a single head", _inputs(draw, 2, 1, 3, 5), True, edge=True)
    yield Case("heads of width 1", _inputs(draw, 2, 5, 3, 1), True, edge=True)
    yield Case("a single word", _inputs(draw, 1, 2, 1, 3), edge=True)
    yield Case("200 words", _inputs(draw, 2, 3, 200, 2), edge=True)
