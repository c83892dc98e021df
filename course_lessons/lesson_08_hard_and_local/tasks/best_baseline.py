"""Task 08.best_baseline: the baseline with which the estimates of a gradient differ least."""

from operator import mul, truediv

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "08.best_baseline",
    "the best baseline",
    arguments=("probabilities S", "rewards S"),
    result="baseline",
    difficulty=2,
    importance=3,
    minutes=15,
    hints=(
        "The derivative of (R - b)² with respect to b is -2 (R - b). At the best b, the mean of these derivatives, each multiplied by the squared length of its gradient, is 0. The best b is therefore a weighted mean of the rewards. What are the weights?",
        "Take the probabilities 0.8 and 0.2 and the rewards 1 and 3. The gradient of log p is (0.2, -0.2) if the first word is drawn, and (-0.8, 0.8) if the second is. The squared lengths are 0.08 and 1.28. Multiplied by the probabilities, they give "
        "0.064 and 0.256, so the best baseline is (0.064 · 1 + 0.256 · 3) / 0.32 = 2.6. The expected reward is only 1.4.",
        "squared_length = 1 - 2 p_k + the sum of all p_i², S; weights = probabilities times squared_length, S; return the sum of weights times rewards, divided by the sum of the weights.",
    ),
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
    order = draw.distinct(4, 0, 4)
    likely = torch.tensor([0.85, 0.05, 0.05, 0.05])[order]
    yield Case("a word that is drawn most often", (likely, draw.numbers(4) + 2))
    never = torch.tensor([0.5, 0.0, 0.25, 0.25])[order]
    yield Case("a word that is never drawn", (never, draw.numbers(4) + 2), edge=True)
    yield Case("equal probabilities", (torch.full((4,), 0.25), draw.numbers(4)), edge=True)
    yield Case("equal rewards", (_probabilities(draw, 4), torch.full((4,), 2.5)), edge=True)
    yield Case("200 words", (_probabilities(draw, 200), draw.numbers(200)), edge=True)


@task.steps
def _(probabilities, rewards):
    lengths = yield "the squared lengths of the gradients", _squared_lengths, probabilities
    weights = yield "the weights of the rewards", mul, probabilities, lengths
    products = yield "the weighted rewards", mul, weights, rewards
    above = yield "the numerator", torch.sum, products
    below = yield "the denominator", torch.sum, weights
    baseline = yield "the baseline", truediv, above, below
    return float(baseline)


def _squared_lengths(p):
    return (torch.eye(len(p), dtype=p.dtype) - p).square().sum(1)


LENGTHS, WEIGHTS = "the squared lengths of the gradients", "the weights of the rewards"
EVERY_SCORE = (
    "The gradient has one entry for each score: 1 - p_k for the word that is drawn, and -p_i for every other word."
)
task.changed_each(
    ("expected_reward", "This is the expected reward. It is often a good baseline, but not the best one: each reward also has to be weighted by the squared length of its gradient.", {LENGTHS: torch.ones_like}),
    ("mean_reward", "This is the mean of the rewards, as if all words counted equally. A reward is weighted by its probability and by the squared length of its gradient.", {WEIGHTS: lambda p, lengths: torch.ones_like(p)}),
    ("probabilities_forgotten", "The probabilities are missing: you weight the rewards by the squared lengths alone. A word that is drawn more often counts more.", {WEIGHTS: lambda p, lengths: lengths}),
    ("length_not_squared", "You weight by the length of the gradient. The sum to be minimised contains its square: leave out the root.", {LENGTHS: lambda p: _squared_lengths(p).sqrt()}),
    ("own_score_alone", f"You use only the entry of the drawn word, (1 - p_k)². {EVERY_SCORE} The squared length is the sum of all their squares.", {LENGTHS: lambda p: (1 - p).square()}),
    ("one_minus_the_probability", f"Your weights are p_k (1 - p_k), so your squared lengths are 1 - p_k or a multiple of it. {EVERY_SCORE} The squared length is the sum of all their squares.", {LENGTHS: lambda p: 1 - p}),
    ("own_score_twice", f"You also add p_k² of the word that is drawn. {EVERY_SCORE} Its own score contributes (1 - p_k)² alone.", {LENGTHS: lambda p: (1 - p).square() + p.square().sum()}),
    ("probabilities_squared", "You multiply by the probability twice. The mean over the draws contains it once.", {WEIGHTS: lambda p, lengths: p.square() * lengths}),
    ("not_divided", "You do not divide. The best baseline is a weighted mean: divide by the sum of the weights.", {"the baseline": lambda above, below: above}),
    ("divided_by_number", "You divide by the number of words. For a weighted mean, divide by the sum of the weights.", {"the baseline": lambda above, below, *, rewards: above / len(rewards)}),
)  # fmt: skip
