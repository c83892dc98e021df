"""Task 12.patch_embeddings: an image as a sentence of patches, which an encoder can read (Dosovitskiy et al. 2021, equation 1)."""

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "an image as a sentence",
    arguments=("images B×C×Y×X", "weight D×C×P×P", "bias D", "summary D", "positions 1+N×D"),
    result="vectors B×1+N×D",
    difficulty=3,
    importance=3,
    minutes=20,
)


@task.cases
def _(draw):
    for size in sizes(B=3, C=2, R=2, Q=5, P=3, D=7):
        images = draw.numbers(size.B, size.C, size.R * size.P, size.Q * size.P)
        weight, N = draw.numbers(size.D, size.C, size.P, size.P), size.R * size.Q
        rest = draw.numbers(size.D), draw.numbers(size.D), draw.numbers(1 + N, size.D)
        name = f"{count(size.B, 'image')} of {count(size.R, 'row')} and {count(size.Q, 'column')} of patches"
        yield Case(name, (images, weight, *rest), size.full)
    for name, C, R, Q, P in (
        ("a single patch", 3, 1, 1, 4),
        ("patches of one pixel", 1, 3, 4, 1),
        ("more rows than columns of patches", 1, 4, 2, 2),
    ):
        images, weight = draw.numbers(2, C, R * P, Q * P), draw.numbers(5, C, P, P)
        yield Case(name, (images, weight, draw.numbers(5), draw.numbers(5), draw.numbers(1 + R * Q, 5)), edge=True)
