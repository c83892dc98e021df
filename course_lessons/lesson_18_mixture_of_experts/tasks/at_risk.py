"""Task 18.at_risk: which old inputs may be answered differently once the experts have learned something new."""

import torch

from course_lessons.lesson_18_mixture_of_experts.tasks._gates import sparse_gates
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "what may be forgotten",
    arguments=("old B×N", "new C×N"),
    result="risk B",
    difficulty=2,
    importance=4,
    minutes=10,
    partial=EDGE | SIDE_EFFECT,
)


def _turned(draw, old, new):
    """The same with the experts in another order, so that no place of theirs tells anything."""
    order = draw.distinct(old.shape[1], 0, old.shape[1])
    return old[:, order], new[:, order]


@task.cases
def _(draw):
    small = torch.tensor([[0.5, 0.5, 0, 0], [0, 1.0, 0, 0], [0.75, 0, 0.25, 0]])
    for B, C in ((1, 1), (2, 1), (3, 1), (3, 2)):
        new = torch.tensor([[0, 0, 0.5, 0.5], [0, 0, 1.0, 0]])[:C]
        yield Case(f"{count(B, 'old input')}, {C} new, 4 experts", _turned(draw, small[3 - B :], new))
    soft = torch.tensor([[1.0, 1e-7, 0, 0, 0], [0, 0, 0.7, 0.3, 0], [0.4, 0, 0, 0.6, 0]])
    barely = torch.tensor([[0, 1e-7, 0, 0, 1.0], [0, 0, 0, 0, 1.0]])
    yield Case("gates of 0.0000001 on both sides", _turned(draw, soft, barely))
    two = torch.tensor([[0.6, 0.4, 0, 0, 0], [0, 0, 0.4, 0.6, 0], [0, 0, 0, 0.3, 0.7], [0, 1.0, 0, 0, 0]])
    # Only the second asks expert 2. Gates above a half have products below one.
    split = torch.tensor([[0.8, 0, 0, 0, 0.2], [0.7, 0, 0.3, 0, 0], [0.75, 0, 0, 0, 0.25]])
    yield Case("new inputs that ask different experts", _turned(draw, two, split))
    asked = torch.tensor([[0.5, 0, 0.3, 0, 0.2], [0.25, 0, 0, 0, 0.75], [0, 0, 1.0, 0, 0]])
    yield Case("old inputs that ask all of the experts that change, or some", _turned(draw, asked, split))
    halves = torch.tensor(
        [[0.4, 0.35, 0.25, 0, 0], [0, 0.45, 0, 0.15, 0.4], [0.3, 0.4, 0, 0.3, 0], [0, 0.4, 0, 0, 0.6]]
    )
    yield Case("gates below a half", _turned(draw, halves, torch.tensor([[0.45, 0, 0.35, 0.2, 0]])))
    last = torch.tensor([[0, 0, 0, 1.0, 0], [1.0, 0, 0, 0, 0]])
    yield Case("as many old inputs as new", _turned(draw, two[:2], last))
    yield Case("7 old inputs, 3 new, two experts each", (sparse_gates(draw, 7, 7, 2), sparse_gates(draw, 3, 7, 2)))
    yield Case("11 old inputs, 2 new, one expert each", (sparse_gates(draw, 11, 5, 1), sparse_gates(draw, 2, 5, 1)))
    yield Case("all experts answer", (sparse_gates(draw, 3, 5, 5), sparse_gates(draw, 2, 5, 5)))
    yield Case("a single expert", (torch.ones(2, 1), torch.ones(3, 1)), edge=True)
    tiny = torch.tensor([1, 1e-23, 1, 1, 1])
    yield Case("gates of 1e-30 on both sides", _turned(draw, soft * tiny, barely * tiny), hazard=True)
    yield Case("no two inputs ask the same expert", _turned(draw, small[1:2], new), edge=True)
    doubles = sparse_gates(draw, 5, 7, 2, torch.float64), sparse_gates(draw, 2, 7, 2, torch.float64)
    yield Case("float64 numbers", doubles, hazard=True)


@task.property
def each_risk_follows_from_the_gates(case, value):
    """Which expert an old input shares with a new one, or that it shares none."""
    old, new = case.args
    right = task.oracle_function(old, new)
    if value.shape != right.shape or not (value != right).any():
        return None
    b = int((value != right).nonzero()[0])
    asked = (old[b] > 0).nonzero()[:, 0].tolist()
    for c, i in ((c, i) for c in range(len(new)) for i in asked if new[c, i] > 0):
        return f"Old input {b} asks expert {i}, with a gate of {old[b, i]:.3g}, and new input {c} asks it, with {new[c, i]:.3g}. The expert may change, and so may this answer."
    of = f"expert {asked[0]}" if len(asked) == 1 else f"experts {', '.join(map(str, asked))}"
    return f"Old input {b} asks only {of}, and no new input asks any of these. So its answer stays the same."


def largest(gates):
    """Mark the expert with the largest gate of each input."""
    return torch.nn.functional.one_hot(gates.argmax(1), gates.shape[1]).bool()
