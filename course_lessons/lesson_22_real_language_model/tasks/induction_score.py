"""Task 22.induction_score: how much each head looks at the token after the earlier copy."""

import torch

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "how much a head looks at the token after the earlier copy",
    arguments=("weights H×T×T", "period"),
    result="score H",
    difficulty=2,
    importance=3,
    minutes=15,
    rows_sum_to_one=("weights",),
)


@task.cases
def _(draw):
    for H, T, period in ((1, 4, 2), (2, 6, 3), (3, 11, 5), (5, 13, 4)):
        name = f"{H} heads, {T} tokens with a period of {period}"
        yield Case(name, (_weights(draw, H, T), period), gradient=H == 3)
    looks = torch.eye(7)[[0, 0, 1, 1, 2, 2, 4]]  # query t at key t - 2, or else before it
    yield Case("weights of 0 and 1", (torch.stack([looks, torch.eye(7)]), int(draw.whole(2, 5))))
    yield Case("a single query", (_weights(draw, 2, 6), 5), edge=True)
    yield Case("a period of 1, the same token again and again", (_weights(draw, 2, 5), 1), edge=True)


def _weights(draw, H, T):
    scores = torch.randn(H, T, T, generator=draw.generator)
    return scores.masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), -torch.inf).softmax(-1)


@task.steps
def _(weights, period):
    rows = yield "the rows of the queries", lambda weights, period: weights[:, int(period) :], weights, period
    found = yield "the weights on the keys", lambda rows: rows.diagonal(1, 1, 2), rows
    score = yield "the score", lambda found: found.mean(-1), found
    return score
