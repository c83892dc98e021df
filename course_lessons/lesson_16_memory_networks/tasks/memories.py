"""Task 16.memories: how much more each hop looks at the facts that answers rest on than equal weights would."""

import torch

from course_lessons.shared.padding import scattered, words_first
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "which memories each hop looks at",
    arguments=("weights B×K×M", "mask B×M", "support B×S"),
    result="times K×S",
    difficulty=2,
    importance=5,
    minutes=15,
    partial=EDGE | SIDE_EFFECT,
)


@task.property
def no_mean_is_negative(case, value):
    """Weights are not."""
    least = value.min()
    if least < -1e-6:
        return f"Weights are never negative, so no result can be negative; one of yours is {least:.4g}."
    return None


def _inputs(draw, mask, K, S, dtype=torch.float32):
    """Weights that are 0 at padding; the first story rests on S facts, the others on 1 to S, at places in any order."""
    B, M = mask.shape
    numbers = draw.whole(1, 10, B, K, M).to(dtype) * mask[:, None]
    support = torch.full((B, S), -1)
    for row, real in enumerate(mask):
        (places,) = real.nonzero(as_tuple=True)
        most = min(S, len(places))
        rests_on = S if row == 0 else 1 if row == B - 1 else int(draw.whole(1, most + 1))
        support[row, :rests_on] = places[draw.distinct(len(places), 0, len(places))[:rests_on]]
    return numbers / numbers.sum(-1, keepdim=True), mask, support


@task.cases
def _(draw):
    for B, K, M, S in (
        (1, 1, 3, 1),
        (2, 1, 3, 1),
        (2, 1, 4, 2),
        (3, 2, 4, 2),
        (3, 2, 5, 3),
        (5, 3, 7, 2),
        (7, 2, 11, 3),
    ):
        lengths = draw.whole(1, M + 1, B)
        lengths[0] = max(S, M - 1)  # so that there is padding
        name = f"{count(B, 'story') if B == 1 else f'{B} stories'} of {M} positions, {count(K, 'hop')}, up to {count(S, 'supporting fact')}"
        yield Case(name, _inputs(draw, words_first(lengths, M), K, S))
    every = torch.ones(5, 6, dtype=torch.bool)
    yield Case("no padding", _inputs(draw, every, 2, 3))
    yield Case(
        "stories, hops, positions and supporting facts all 3",
        _inputs(draw, words_first(torch.tensor([3, 2, 1]), 3), 3, 3),
    )
    weights, mask, _ = _inputs(draw, words_first(torch.tensor([4, 2, 3]), 5), 2, 2)
    yield Case("every answer rests on two facts", (weights, mask, torch.tensor([[0, 3], [1, 0], [2, 1]])))
    weights, mask, support = _inputs(draw, words_first(torch.tensor([5, 4, 3]), 6), 2, 2)
    weights[:, :, 2], weights[0, 1, 0] = 0, 0  # a fact that no hop looks at, and one that the second does not look at
    looked_at = weights / weights.sum(-1, keepdim=True)
    yield Case("facts with a weight of 0", (looked_at, mask, support))
    yield Case("padding anywhere in a story", _inputs(draw, scattered(draw), 2, 2), edge=True)
    yield Case("one fact, one hop", _inputs(draw, every[:1, :1], 1, 1), edge=True)
    yield Case("200 stories", _inputs(draw, words_first(draw.whole(3, 9, 200), 8), 2, 3), edge=True)
    yield Case(
        "float64 numbers", _inputs(draw, words_first(torch.tensor([4, 2, 5]), 6), 2, 3, torch.float64), hazard=True
    )
