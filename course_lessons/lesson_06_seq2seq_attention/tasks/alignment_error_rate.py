"""Task 06.alignment_error_rate: how far attention agrees with the alignments that people have made."""

from operator import add, sub, truediv

import torch

from course_lessons.shared.partial_credit import EDGE
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "how well attention agrees with people",
    arguments=("weights T×S", "sure", "possible"),
    result="rate",
    difficulty=2,
    importance=3,
    minutes=15,
    partial=EDGE,
)


@task.property
def a_rate_lies_between_0_and_1(case, value):
    """As many links are counted as there are, at most."""
    return f"The rate lies between 0 and 1; yours is {value:.4g}." if not -1e-6 <= value <= 1 + 1e-6 else None


def _drawn(draw, T, S):
    """Weights without ties, and pairs among which are links and others, sure ones that are listed as possible and some that are not."""
    weights = torch.stack([draw.distinct(S, 0, 5 * S) for _ in range(T)]).float()
    links = [(int(s), t) for t, s in enumerate(weights.argmax(1))]
    others = [(s, t) for s in range(S) for t in range(T) if (s, t) not in links]
    draw_from = lambda pairs, n: [pairs[i] for i in draw.distinct(len(pairs), 0, len(pairs))[:n].tolist()]  # noqa: E731
    right, wrong = draw_from(links, T), draw_from(others, 2 * T)
    cut = max(1, T // 3)
    sure = right[:cut] + wrong[: cut + 1]  # the first right and the first wrong one are listed as possible too
    possible = right[: max(1, cut - 1)] + right[cut : 2 * cut + 1] + wrong[:1] + wrong[cut + 1 :]
    shuffled = [draw_from(pairs, len(pairs)) for pairs in (sure, possible)]
    return weights / weights.sum(1, keepdim=True), *shuffled


@task.cases
def _(draw):
    for T, S in ((2, 3), (3, 2), (3, 5), (5, 3), (5, 7), (7, 5), (7, 11), (13, 11)):
        yield Case(f"{T} words from {S}", _drawn(draw, T, S))
    yield Case("as many target words as source words", _drawn(draw, 5, 5))
    weights, sure, possible = _drawn(draw, 7, 5)
    yield Case("pairs that are listed twice", (weights, sure + sure[::-1], possible + possible[1:] + sure[-1:]))
    weights, sure, possible = _drawn(draw, 7, 3)
    yield Case("sure pairs that are not listed as possible", (weights, sure, [p for p in possible if p not in sure]))
    weights, _, possible = _drawn(draw, 5, 7)
    yield Case("no sure pair", (weights, [], possible), edge=True)
    yield Case("no possible pair besides the sure ones", (weights, possible[:4], []), edge=True)
    yield Case("no pair at all", (weights, [], []), edge=True)
    links = [(int(s), t) for t, s in enumerate(weights.argmax(1))]
    yield Case("the sure pairs are exactly the links", (weights, links, links), edge=True)
    yield Case("one word from one", (torch.ones(1, 1), [(0, 0)], []), edge=True)
    level = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.4, 0.1], [0.0, 0.0, 0.0, 0.0]])
    yield Case("weights that are equal", (level, [(0, 0), (1, 1), (2, 1)], [(0, 2), (3, 0), (3, 2)]), edge=True)
    yield Case("200 words", _drawn(draw, 200, 17), edge=True)


@task.steps
def _(weights, sure, possible):
    links = yield "the links", _links, weights
    sure = yield "the set of the sure pairs", set, sure
    possible = yield "the set of the possible pairs", lambda sure, possible: sure | set(possible), sure, possible
    in_sure = yield "the number of sure links", _number_in, links, sure
    in_possible = yield "the number of possible links", _number_in, links, possible
    agreeing = yield "the sum of the two", add, in_sure, in_possible
    pairs = yield "the number of links", add, len(links), len(sure)
    share = yield "the quotient", truediv, agreeing, pairs
    rate = yield "the error rate", sub, 1, share
    return rate


def _links(weights):
    return {(place, t) for t, place in enumerate(weights.argmax(1).tolist())}


def _number_in(links, pairs):
    return len(links & pairs)
