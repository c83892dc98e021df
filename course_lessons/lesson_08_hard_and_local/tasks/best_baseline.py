"""Task 08.best_baseline: the baseline with which the estimates of a gradient differ least."""

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "the best baseline",
    arguments=("probabilities S", "rewards S"),
    result="baseline",
    difficulty=2,
    importance=3,
    minutes=15,
    partial=EDGE | SIDE_EFFECT,
)


def _probabilities(draw, S):
    return (draw.numbers(S) + 0.25).softmax(0)


@task.property
def squared_lengths_are_right(case, value):
    """What the weights of an incorrect baseline can be compared with."""
    p, rewards = case.args
    if len(p) > 5 or abs(value - task.oracle_function(p, rewards)) < 1e-4:
        return None
    lengths = _squared_lengths(p)
    told = [", ".join(f"{number:.4g}" for number in numbers.tolist()) for numbers in (lengths, p * lengths)]
    return f"For the input “{case.name}” the squared lengths |g_k|² are {told[0]}, and the products p_k |g_k|² are {told[1]}: compare yours. The baseline is the mean of the rewards, weighted by these products."


@task.cases
def _(draw):
    for size in sizes(S=3):
        if size.S > 1:
            yield Case(count(size.S, "word"), (_probabilities(draw, size.S), draw.numbers(size.S) + 1))
    yield Case("5 words", (_probabilities(draw, 5), draw.numbers(5) + 3))
    yield Case("13 words", (_probabilities(draw, 13), draw.numbers(13)))
    yield Case("rewards below 0", (_probabilities(draw, 5), -draw.numbers(5).abs() - 0.25))
    order = draw.distinct(4, 0, 4)
    likely = torch.tensor([0.85, 0.05, 0.05, 0.05])[order]
    yield Case("a word that is drawn most often", (likely, draw.numbers(4) + 2))
    never = torch.tensor([0.5, 0.0, 0.25, 0.25])[order]
    yield Case("a word that is never drawn", (never, draw.numbers(4) + 2), edge=True)
    yield Case("equal probabilities", (torch.full((4,), 0.25), draw.numbers(4)), edge=True)
    yield Case("equal rewards", (_probabilities(draw, 4), torch.full((4,), 2.5)), edge=True)
    yield Case("200 words", (_probabilities(draw, 200), draw.numbers(200)), edge=True)


def _squared_lengths(p):
    return (torch.eye(len(p), dtype=p.dtype) - p).square().sum(1)


@task.oracle
def _(probabilities, rewards):
    """A plain number, so that an answer may return a number or a tensor without axes."""
    weights = probabilities * _squared_lengths(probabilities)
    return float(weights @ rewards / weights.sum())
