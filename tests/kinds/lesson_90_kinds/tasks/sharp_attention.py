"""Task 90.sharp_attention: numbers that float32 cannot get right to the last digit."""

import torch

from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "attention with scores of 10,000",
    arguments=("query B×T×D", "key B×S×D", "value B×S×E"),
    result="context B×T×E",
    difficulty=2,
    importance=3,
    minutes=10,
)


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, S=5, D=7, E=4):
        shapes = ((size.B, size.T, size.D), (size.B, size.S, size.D), (size.B, size.S, size.E))
        yield Case(f"{size.T} queries", tuple(draw.numbers(*shape) for shape in shapes))
    # The first two keys are nearly alike: their scores, near 10,000, differ by less than 1.
    query, key = 100 + draw.numbers(2, 3, 16), 100 + draw.numbers(2, 5, 16)
    key[:, 1] = key[:, 0] + 1e-3 * draw.numbers(2, 16)
    key[:, 2:] -= 20
    yield Case("scores near 40,000", (query, key, draw.numbers(2, 5, 4)), gradient=True, edge=True)


@task.oracle
def _(query, key, value):
    scores = torch.einsum("btd,bsd->bts", query, key) / query.shape[-1] ** 0.5
    return torch.einsum("bts,bse->bte", scores.softmax(-1), value)


@task.mistake()
def unscaled(query, key, value):
    return (query @ key.mT).softmax(-1) @ value


@task.mistake()
def by_width(query, key, value):
    return (query @ key.mT / query.shape[-1]).softmax(-1) @ value


@task.mistake()
def coarse(query, key, value):
    return (query @ key.mT / query.shape[-1] ** 0.5 * 32).round().div(32).softmax(-1) @ value
