"""Task 22.induction_score: how much each head looks at the token after the earlier copy."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "22.induction_score",
    "how much a head looks at the token after the earlier copy",
    arguments=("weights H×T×T", "period"),
    result="score H",
    difficulty=2,
    importance=3,
    minutes=15,
    hints=(
        "The token at t occurred before, at t - period. The token that followed it is at t - period + 1. That is one key for each query, and the score is the mean of the weights on these keys.",
        "Take six tokens a b c a b c, so that the period is 3. The second a is query 3. It occurred before, at position 0, and b followed it at position 1, so the weight in row 3 and column 1 counts. The next weights are in row 4, column 2, and in row 5, column 3.",
        "queries = the positions from period to T - 1; keys = queries - period + 1; return the mean of weights[:, queries, keys] over the queries.",
    ),
    rows_sum_to_one=("weights",),
)


@task.cases
def _(draw):
    for H, T, period in ((1, 4, 2), (2, 6, 3), (3, 11, 5), (5, 13, 4)):
        name = f"{H} heads, {T} tokens with a period of {period}"
        yield Case(name, (_weights(draw, H, T), period), gradient=H == 3)
    yield Case("a single query", (_weights(draw, 2, 6), 5), edge=True)
    yield Case("a period of 1, the same token again and again", (_weights(draw, 2, 5), 1), edge=True)


def _weights(draw, H, T):
    scores = torch.randn(H, T, T, generator=draw.generator)
    return scores.masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), -torch.inf).softmax(-1)


ROWS, FOUND, SCORE = "the rows of the queries", "the weights on the keys", "the score"


@task.steps
def _(weights, period):
    rows = yield ROWS, lambda weights, period: weights[:, int(period) :], weights, period
    found = yield FOUND, lambda rows: rows.diagonal(1, 1, 2), rows
    score = yield SCORE, lambda found: found.mean(-1), found
    return score


def _on(key):
    """The mean weight on key(t, period), over the queries t from period on."""

    def score(weights, period):
        queries = torch.arange(int(period), weights.shape[-1])
        return weights[:, queries, key(queries, int(period))].mean(-1)

    return score


for _name, _key, _sentence in (
    ("earlier_copy", lambda t, period: t - period, "You measure the weight on the earlier copy itself, at t - period. An induction head looks one position further on: at the token that followed the copy."),
    ("before_the_copy", lambda t, period: t - period - 1, "You measure the weight on the token before the earlier copy, at t - period - 1. The token after it is at t - period + 1."),
    ("previous_token", lambda t, period: t - 1, "You measure the weight on the previous token, at t - 1. That is the head that helps an induction head."),
    ("current_token", lambda t, period: t, "You measure the weight of each token on itself."),
    ("first_token", lambda t, period: 0 * t, "You measure the weight on the first token."),
):  # fmt: skip
    task.mistake(_sentence, _name)(_on(_key))
task.changed_each(
    ("summed", "This is the sum over the queries. Take the mean, so that the score is a weight from 0 to 1.", {SCORE: lambda found: found.sum(-1)}),
    ("largest", "You return the largest weight. Take the mean over all queries that have an earlier copy.", {SCORE: lambda found: found.amax(-1)}),
    ("first_query", "You take only the first query that has an earlier copy. Take the mean over all of them.", {SCORE: lambda found: found[:, 0]}),
    ("last_query", "You take only the last query. Take the mean over all queries that have an earlier copy.", {SCORE: lambda found: found[:, -1]}),
    ("over_all_positions", "You divide by T. Only T - period queries have an earlier copy: divide by their number.", {SCORE: lambda found, *, weights: found.sum(-1) / weights.shape[-1]}),
    ("heads_averaged", "You return one number, because you also take the mean over the heads. Each head has its own score.", {SCORE: lambda found: found.mean()}),
    ("one_query_too_many", "Your mean has one query too many: the one at position period - 1 has no earlier copy. The queries go from period to T - 1.", {ROWS: lambda weights, period: weights[:, int(period) - 1 :], FOUND: lambda rows: rows.diagonal(0, 1, 2)}),
    ("one_query_too_few", "The first query that has an earlier copy, at position period, is missing.", {SCORE: lambda found: found[:, min(1, found.shape[1] - 1) :].mean(-1)}),
    ("last_left_out", "The last query is missing: the queries go from period up to T - 1.", {SCORE: lambda found: found[:, : max(1, found.shape[1] - 1)].mean(-1)}),
)  # fmt: skip


@task.mistake("Rows and columns are swapped: queries are the rows of the weights, and keys the columns.")
def transposed(weights, period):
    return _on(lambda t, period: t - period + 1)(weights.mT, period)
