"""Task 16.memories: how much more each hop looks at the facts that answers rest on than equal weights would."""

from operator import mul, truediv

import torch

from course_lessons.shared.padding_mistakes import scattered, words_first
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "16.memories",
    "which memories each hop looks at",
    arguments=("weights B×K×M", "mask B×M", "support B×S"),
    result="times K×S",
    difficulty=2,
    importance=5,
    minutes=15,
    hints=(
        "For a single story and hop, look up the weight at each supporting fact and divide it by the weight it would have if all were equal, which depends on how many real facts this story has. Only then take the mean over stories: for each column of support, over the stories that have a fact in it. In Python, position -1 is the last one, so leave out the -1 entries explicitly.",
        "Take one hop and two stories. The first has 4 facts with the weights [0.5, 0.25, 0.25, 0], and its answer rests on facts 0 and 2: equal weights would give 0.25, so it gets 0.5 / 0.25 = 2 times as much and 0.25 / 0.25 = 1 time. The second has 2 facts and then padding, with the weights [0.25, 0.75, 0, 0], and its answer rests on fact 1 alone, so its row of support is [1, -1]: 0.75 / 0.5 = 1.5. The result is [[1.75, 1]]: the mean of 2 and 1.5, and 1 from the first story alone.",
        "facts = number of True values in each row of mask, B; counted = support at least 0, B×S; at = for each story and hop, the weights at the positions in support (any position where counted is False), B×K×S; times = at · facts, with zeros where counted is False; return the sum of times over the stories, divided by the sum of counted over the stories.",
    ),
    partial=EDGE | SIDE_EFFECT,
)


@task.property
def no_mean_is_negative(case, value):
    """Weights are not."""
    least = value.min()
    return (
        f"Weights are never negative, so no result can be negative; one of yours is {least:.4g}."
        if least < -1e-6
        else None
    )


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
        "float64 numbers",
        _inputs(draw, words_first(torch.tensor([4, 2, 5]), 6), 2, 3, torch.float64),
        hazard=True,
    )


@task.oracle
def _(weights, mask, support):
    K, S = weights.shape[1], support.shape[1]
    result = torch.zeros(K, S, dtype=weights.dtype)
    for k in range(K):
        for s in range(S):
            times = [
                hops[k, row[s]].item() * sum(real.tolist())
                for hops, real, row in zip(weights, mask, support.tolist(), strict=True)
                if row[s] >= 0
            ]
            result[k, s] = sum(times) / len(times)
    return result


def _looked_up(weights, support, missing=0):
    """The weights at the places in support, B×K×S, and at the place `missing` where there is none."""
    places = support.where(support >= 0, missing % weights.shape[2])
    return weights.gather(2, places[:, None].expand(-1, weights.shape[1], -1))


@task.steps
def _(weights, mask, support):
    at = yield "the supporting facts' weights", _looked_up, weights, support
    facts = yield "the number of facts", lambda mask: mask.sum(1)[:, None, None], mask
    times = yield "the multiples of equal weights", mul, at, facts
    counted = yield "the positions in use", lambda support: support >= 0, support
    total = yield "the sums over stories", lambda times, counted: (times * counted[:, None]).sum(0), times, counted
    number = yield "the number of stories", lambda counted: counted.sum(0), counted
    result = yield "the means", truediv, total, number
    return result


def _of_means(total, number, *, mask, support):
    """The mean weight, divided by the mean of equal weights over the same stories."""
    equal = (1 / mask.sum(1))[:, None].to(total) * (support >= 0)  # B S
    return total / equal.sum(0)


AT, FACTS = "the supporting facts' weights", "the number of facts"
TIMES, COUNTED = "the multiples of equal weights", "the positions in use"
NUMBER, MEANS = "the number of stories", "the means"
task.changed_each(
    # Where there is no further fact
    ("last_fact_for_minus_one", "Where support is -1, you read the last position in the row: in Python, position -1 is the last one. There is no such fact: leave these stories out of the column's mean.", {AT: lambda weights, support: _looked_up(weights, support, -1), COUNTED: lambda support: torch.ones_like(support, dtype=torch.bool)}),
    ("first_fact_for_minus_one", "Where support is -1, you read the first position in the row. There is no such fact: leave these stories out of the column's mean.", {COUNTED: lambda support: torch.ones_like(support, dtype=torch.bool)}),
    ("divided_by_all_stories", "You divide each sum by the number of all stories. Divide by the number of stories that have a fact in this column of support.", {NUMBER: lambda counted: torch.full(counted.shape[1:], len(counted))}),
    ("one_number_for_all_columns", "You divide each sum by the number of all supporting facts. Each column of support has its own mean.", {NUMBER: lambda counted: counted.sum().expand(counted.shape[1])}),
    # What equal weights would give
    ("padding_counted", "You use 1/M for equal weights, which includes padding. Padding gets no weight: divide 1 by the number of the story's facts.", {FACTS: lambda mask: torch.full((len(mask), 1, 1), mask.shape[1])}),
    ("counted_by_their_weight", "You count the facts to which a hop gives a weight above 0. A fact with a weight of 0 is also a fact, and under equal weights it would get its share: count the True values of the mask.", {FACTS: lambda mask, *, weights: (weights > 0).sum(2, keepdim=True)}),
    ("counted_by_any_weight", "You count the facts to which at least one hop gives a weight above 0. A fact that no hop looks at is also a fact: count the True values of the mask.", {FACTS: lambda mask, *, weights: (weights > 0).any(1).sum(1)[:, None, None]}),
    ("first_mask_for_all", "You count the first story's facts and use this number for all stories. Each story has its own number of facts.", {FACTS: lambda mask: mask[:1].sum(1)[:, None, None].expand(len(mask), 1, 1)}),
    ("padding_is_counted_alone", "You count padding instead of facts. The mask is True at facts.", {FACTS: lambda mask: (~mask).sum(1)[:, None, None]}),
    ("not_compared", "You return the mean weights. Divide each weight by what it would be if all weights in its story were equal.", {TIMES: left_out}),
    ("divided_by_the_number", "You divide each weight by the number of facts. Equal weights would be 1 divided by this number; divide by that.", {TIMES: lambda at, facts: at / facts.clamp(min=1)}),
    ("subtracted", "You subtract the equal weight. The question is how many times as large the weight is, so divide.", {TIMES: lambda at, facts: at - 1 / facts}),
    ("means_divided", "You take the mean weight and divide it by the mean of equal weights. Compare within each story first, and then take the mean.", {TIMES: left_out, MEANS: _of_means}),
    # The result
    ("turned_round", "Your rows are supporting facts and your columns are hops. It should be the reverse: K×S.", {MEANS: lambda total, number, *, right: right(total, number).mT}),
    ("sums", "You return sums over the stories. Return means.", {MEANS: left_out}),
)  # fmt: skip
