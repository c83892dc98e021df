"""Task 08.attend_to_past: each state of a sequence looks at the states before it."""

from math import sqrt
from operator import matmul, truediv

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "attention to earlier decoder states",
    arguments=("states B×T×D",),
    result="contexts B×T×D",
    difficulty=3,
    importance=5,
    minutes=20,
    partial=USUAL,
)


@task.property
def first_is_zeros(case, value):
    """Nothing comes before the first state."""
    most = value[:, 0].abs().max()
    return "The first state has no past, so its context is zeros; yours is not." if not most <= 1e-6 else None


@task.property
def second_is_the_first(case, value):
    """Whoever sees one state alone gives it all weight."""
    states = case.args[0]
    if states.shape[1] > 1 and (value[:, 1] - states[:, 0]).abs().max() > 1e-4 * (1 + states.abs().max()):
        return "The second state sees only the first, so its context is the first state itself, whatever the scores are; yours is not. Which states does it see, and do its weights sum to 1?"
    return None


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=7):
        T = size.T + 2
        name = f"{count(size.B, 'sequence')} of {T} states, width {size.D}"
        yield Case(name, (draw.numbers(size.B, T, size.D) + 0.25,), size.full)
    yield Case("as many sequences as states", (draw.numbers(3, 3, 5),))
    yield Case("as many states as features", (draw.numbers(2, 5, 5),))
    yield Case("two states", (draw.numbers(3, 2, 5),), True)
    yield Case("a single state", (draw.numbers(2, 1, 3),), True, edge=True)
    yield Case("states of width 1", (draw.numbers(2, 5, 1),), True, edge=True)
    yield Case("200 states", (draw.numbers(1, 200, 3),), edge=True)
    signs = torch.tensor(
        [[100.0, 0.0, 0.0, 0.0], [0.0, 100.0, 0.0, 0.0], [200.0, 100.0, 0.0, 0.0], [-100.0, -200.0, 100.0, 0.0]]
    )
    yield Case("scores of 10,000", (torch.stack([signs, -signs]),), True, hazard=True)


def _past(scores):
    return torch.ones(scores.shape[-2:], dtype=torch.bool).tril(-1)


@task.steps
def _(states):
    products = yield "the dot products", matmul, states, states.mT
    root = yield "√D", sqrt, states.shape[-1]
    scores = yield "the scores", truediv, products, root
    past = yield "which states are seen", _past, scores
    masked = yield "the masked scores", lambda scores, past: scores.masked_fill(~past, -torch.inf), scores, past
    softmax = yield "the softmax", lambda masked: masked.softmax(-1), masked
    weights = yield "the weights", lambda softmax, past: softmax.masked_fill(~past, 0.0), softmax, past
    contexts = yield "the contexts", matmul, weights, states
    return contexts
