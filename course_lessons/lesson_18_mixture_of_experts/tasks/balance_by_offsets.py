"""Task 18.balance_by_offsets: experts are chosen with offsets, weighed without them, and the offsets follow who got how much."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "balance without a loss",
    arguments=("scores B×N", "offsets N", "k", "step"),
    result=("gates B×N", "moved N"),
    difficulty=3,
    importance=5,
    minutes=20,
    gradient_not_asked=("offsets",),
    partial=USUAL,
)


@task.property
def gates_sum_to_one(case, value):
    """Over the experts of a row."""
    return rows_sum_to_one(case, value[0])


@task.property
def no_gate_is_negative(case, value):
    """Scores are above 0."""
    return no_weight_is_negative(case, value[0])


@task.property
def so_many_gates_are_above_zero(case, value):
    """Each row asks k experts."""
    asked = (value[0] != 0).sum(1)
    wrong = (asked != case.args[2]).nonzero()
    return (
        f"Row {wrong[0].item()} has {asked[wrong[0].item()]} gates that are not 0. There should be {case.args[2]}."
        if len(wrong)
        else None
    )


@task.property
def offsets_follow_the_loads(case, value):
    """Each one by its expert's load, where the gates tell who is asked."""
    scores, offsets, k, step = case.args
    load, mean = (value[0] != 0).sum(0), len(scores) * k / scores.shape[1]
    if not ((value[0] != 0).sum(1) == k).all():
        return None
    right = offsets + step * torch.sign(mean - load)
    wrong = ((value[1] - right).abs() > 1e-5 * (1 + right.abs())).nonzero()
    if not len(wrong):
        return None
    i = int(wrong[0])
    compared = "fewer than" if load[i] < mean else "more than" if load[i] > mean else "as many as"
    return f"{count(int(load[i]), 'row')} asked expert {i}, {compared} the mean of {mean:.4g}: its offset of {offsets[i]:.4g} should become {right[i]:.4g}."


def _inputs(draw, B, N, k, step=0.125, dtype=torch.float32):
    """Scores between 0 and 1 that lean to the first experts, and offsets that change some choices; no sums are equal."""
    order = torch.stack([draw.distinct(N, 0, N) for _ in range(B)])
    scores = (order + 1.3 * torch.arange(N, 0, -1) + draw.whole(1, 3, B, 1)).to(dtype) / (3 * N + 1)
    ranks = draw.distinct(N, 0, N).to(dtype)
    offsets = (ranks - ranks.mean()) * (1.25 / (3 * N + 1)) + ranks.square() / 977
    return scores, offsets, k, step


def _with_loads(draw, *loads):
    """Scores with which so many rows ask each expert, if each asks one and offsets are small."""
    chosen = torch.arange(len(loads)).repeat_interleave(torch.tensor(loads))[draw.distinct(sum(loads), 0, sum(loads))]
    ranks = torch.stack([draw.distinct(len(loads), 1, len(loads) + 1) for _ in chosen])
    return 0.05 * ranks + 0.5 * torch.nn.functional.one_hot(chosen, len(loads))


@task.cases
def _(draw):
    for B, N, k in ((1, 2, 1), (1, 3, 1), (2, 3, 1), (2, 3, 2), (3, 4, 2)):
        yield Case(f"{count(B, 'row')} of {N} experts, k = {k}", _inputs(draw, B, N, k))
    yield Case("7 rows of 5 experts, k = 2", _inputs(draw, 7, 5, 2), True)
    yield Case("11 rows of 7 experts, k = 3", _inputs(draw, 11, 7, 3, 0.01), True)
    yield Case("as many rows as experts", _inputs(draw, 5, 5, 2))
    flat, far = torch.tensor([[0.7, 0.2, 0.4], [0.6, 0.3, 0.1], [0.8, 0.4, 0.6]]), torch.tensor([-2.0, 1.0, 0.5])
    order = draw.distinct(3, 0, 3)
    yield Case("offsets larger than any score", (flat[:, order], far[order], 2, 0.25), True)
    uneven = _with_loads(draw, 5, 2, 0, 0)  # the second has more than the mean, and less than half of the largest
    yield Case(
        "a load between the mean and half the largest", (uneven, torch.tensor([0.01, -0.02, 0.015, 0.0]), 1, 0.25)
    )
    scores, offsets, *rest = _inputs(draw, 5, 5, 1)
    yield Case("offsets of 0", (scores, 0 * offsets, *rest))
    every = torch.tensor([[0.9, 0.1, 0.2], [0.1, 0.8, 0.3], [0.2, 0.3, 0.7]])[draw.distinct(3, 0, 3)]
    yield Case("all experts get the same", (every, torch.tensor([0.02, -0.01, 0.0]), 1, 0.5), edge=True)
    yield Case(
        "one expert gets its fair share",
        (torch.tensor([[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.3, 0.7, 0.4]]), torch.zeros(3), 1, 0.5),
        edge=True,
    )
    yield Case("all experts are asked", _inputs(draw, 3, 5, 5), True, edge=True)
    yield Case("a single expert", (torch.tensor([[0.5], [0.25]]), torch.tensor([0.5]), 1, 0.125), edge=True)
    yield Case("a step of 0", _inputs(draw, 5, 3, 1, 0.0), edge=True)
    yield Case("scores of about a thousandth", (flat / 512, far / 512, 2, 0.001), edge=True)
    yield Case("200 rows", _inputs(draw, 200, 7, 2, 0.001), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 7, 5, 2, dtype=torch.float64), True, hazard=True)


@task.oracle
def _(scores, offsets, k, step):
    B, N = scores.shape
    rows, load = [], [0] * N
    for row in scores:
        best = sorted(range(N), key=lambda i, row=row: -(row[i] + offsets[i]).item())[:k]
        total = sum(row[i] for i in best)
        rows.append(torch.stack([row[i] / total if i in best else 0 * row[i] for i in range(N)]))
        for i in best:
            load[i] += 1
    moves = [(N * one < k * B) - (N * one > k * B) for one in load]
    return torch.stack(rows), torch.stack([offset + step * move for offset, move in zip(offsets, moves, strict=True)])
