"""Task 18.at_risk: which old inputs may be answered differently once the experts have learned something new."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.lessons.lesson_18._gates import sparse_gates
from course_utils.lessons.shared.shares import EDGE, SIDE_EFFECT

task = Task(
    "18.at_risk",
    "what may be forgotten",
    arguments=("old B×N", "new C×N"),
    result="risk B",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "Two questions follow each other. Which experts get a gradient from any of the new inputs? And which old inputs ask one of these experts, however softly?",
        "Take the old gates [0.9, 0.1, 0] and [1, 0, 0], and a single new input with the gates [0, 0.01, 0.99]. The experts 1 and 2 may change. The first old input asks expert 1, so it is at risk. The second asks expert 0 alone, so it is not: True, False.",
        "changing = for each expert, whether any new input has a gate above 0 for it, N; asked = old above 0, B×N; return for each row of asked whether any expert is both asked and changing.",
    ),
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
    soft = torch.tensor([[0.998, 0.002, 0, 0, 0], [0, 0, 0.7, 0.3, 0], [0.4, 0, 0, 0.6, 0]])
    barely = torch.tensor([[0, 0.003, 0, 0, 0.997], [0, 0, 0, 0, 1.0]])
    yield Case("gates below 0.005 on both sides", _turned(draw, soft, barely))
    two = torch.tensor([[0.6, 0.4, 0, 0, 0], [0, 0, 0.4, 0.6, 0], [0, 0, 0, 0.3, 0.7], [0, 1.0, 0, 0, 0]])
    split = torch.tensor(
        [[0.8, 0, 0, 0, 0.2], [0.7, 0, 0.3, 0, 0], [0.9, 0, 0, 0, 0.1]]
    )  # only the second asks expert 2
    yield Case("new inputs that ask different experts", _turned(draw, two, split))
    last = torch.tensor([[0, 0, 0, 1.0, 0], [1.0, 0, 0, 0, 0]])
    yield Case("as many old inputs as new", _turned(draw, two[:2], last))
    yield Case("7 old inputs, 3 new, two experts each", (sparse_gates(draw, 7, 7, 2), sparse_gates(draw, 3, 7, 2)))
    yield Case("11 old inputs, 2 new, one expert each", (sparse_gates(draw, 11, 5, 1), sparse_gates(draw, 2, 5, 1)))
    yield Case("all experts answer", (sparse_gates(draw, 3, 5, 5), sparse_gates(draw, 2, 5, 5)), edge=True)
    yield Case("a single expert", (torch.ones(2, 1), torch.ones(3, 1)), edge=True)
    tiny = torch.tensor([1, 5e-28, 1, 1, 1])
    yield Case("gates of 1e-30 on both sides", _turned(draw, soft * tiny, barely * tiny), hazard=True)
    yield Case("nobody asks the same expert", _turned(draw, small[1:2], new), edge=True)
    doubles = sparse_gates(draw, 5, 7, 2, torch.float64), sparse_gates(draw, 2, 7, 2, torch.float64)
    yield Case("float64 numbers", doubles, hazard=True)


@task.oracle
def _(old, new):
    return torch.tensor([any(a > 0 and b > 0 for row in new for a, b in zip(gates, row, strict=True)) for gates in old])


@task.steps
def _(old, new):
    asked = yield "which experts each old input asks", lambda old: old > 0, old
    asks = yield "which experts each new input asks", lambda new: new > 0, new
    learning = yield "which experts may change", lambda asks: asks.any(0), asks
    both = yield "which experts are both asked and changing", torch.logical_and, asked, learning
    return (yield "whether there is one", lambda both: both.any(1), both)


def _largest(gates):
    return torch.nn.functional.one_hot(gates.argmax(1), gates.shape[1]).bool()


OLD, NEW = "which experts each old input asks", "which experts each new input asks"
task.changed_each(
    ("best_expert_of_both", "On both sides you look only at the expert with the largest gate. An expert with any gate above 0 learns, and has an effect.", {OLD: _largest, NEW: _largest}),
    ("hundredth_on_both_sides", "You leave out gates that are small. A small gate is not 0: its expert learns, and an answer that it has a part in may change.", dict.fromkeys((OLD, NEW), lambda gates: gates > 0.01)),
    ("all_new_inputs", "You let an expert change only if *all* new inputs ask it. One of them is enough.", {"which experts may change": lambda asks: asks.all(0)}),
    ("last_new_input", "You look only at the last new input, as a loop does that writes over what it found before. An expert changes if any of them asks it.", {"which experts may change": lambda asks: asks[-1]}),
    ("all_experts_asked", "You call an old input at risk only if *all* experts that it asks may change. One of them is enough.", {"which experts are both asked and changing": lambda asked, learning: ~asked | learning, "whether there is one": lambda held: held.all(1)}),
)  # fmt: skip
