"""Task 10.split_heads: queries, keys and values are read out of vectors that hold them head by head."""

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "queries, keys and values from another library's layout",
    arguments=("qkv B×T×3·D", "heads"),
    result="parts 3×B×H×T×d",
    difficulty=3,
    importance=4,
    minutes=15,
)


def _words(draw, B, T, width):
    """Numbers that are all different, so that each shows where it has gone."""
    return draw.distinct(B * T * width, 1, 2 * B * T * width + 20).reshape(B, T, width) / 2


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, H=4, d=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, {size.H} heads of width {size.d}"
        yield Case(name, (_words(draw, size.B, size.T, 3 * size.H * size.d), size.H), size.full)
    yield Case("as many sentences as words and heads", (_words(draw, 3, 3, 18), 3))
    yield Case("as many heads as the width of a head", (_words(draw, 2, 5, 48), 4))
    yield Case("a single head", (_words(draw, 2, 3, 15), 1), True, edge=True)
    yield Case("heads of width 1", (_words(draw, 2, 3, 15), 5), True, edge=True)
    yield Case("a single word", (_words(draw, 1, 1, 18), 2), edge=True)
    yield Case("200 words", (draw.numbers(2, 200, 18), 3), edge=True)
