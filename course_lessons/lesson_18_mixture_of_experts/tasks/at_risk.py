"""Task 18.at_risk: which old inputs may be answered differently once the experts have learned something new."""

import torch

from course_lessons.lesson_18_mixture_of_experts.tasks._gates import sparse_gates
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "18.at_risk",
    "what may be forgotten",
    arguments=("old B×N", "new C×N"),
    result="risk B",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "There are two questions, one after the other. Which experts get a gradient from any of the new inputs? And which old inputs ask one of these experts, however softly?",
        "Take the old gates [0.9, 0.1, 0] and [1, 0, 0], and a single new input with the gates [0, 0.01, 0.99]. Experts 1 and 2 may change. The first old input asks expert 1, so it is at risk. The second asks only expert 0, so it is not: True, False.",
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
    # Only the second asks expert 2. Gates above a half have products below one.
    split = torch.tensor([[0.8, 0, 0, 0, 0.2], [0.7, 0, 0.3, 0, 0], [0.75, 0, 0, 0, 0.25]])
    yield Case("new inputs that ask different experts", _turned(draw, two, split))
    halves = torch.tensor(
        [[0.4, 0.35, 0.25, 0, 0], [0, 0.45, 0, 0.15, 0.4], [0.3, 0.4, 0, 0.3, 0], [0, 0.4, 0, 0, 0.6]]
    )
    yield Case("gates below a half", _turned(draw, halves, torch.tensor([[0.45, 0, 0.35, 0.2, 0]])))
    last = torch.tensor([[0, 0, 0, 1.0, 0], [1.0, 0, 0, 0, 0]])
    yield Case("as many old inputs as new", _turned(draw, two[:2], last))
    yield Case("7 old inputs, 3 new, two experts each", (sparse_gates(draw, 7, 7, 2), sparse_gates(draw, 3, 7, 2)))
    yield Case("11 old inputs, 2 new, one expert each", (sparse_gates(draw, 11, 5, 1), sparse_gates(draw, 2, 5, 1)))
    yield Case("all experts answer", (sparse_gates(draw, 3, 5, 5), sparse_gates(draw, 2, 5, 5)), edge=True)
    yield Case("a single expert", (torch.ones(2, 1), torch.ones(3, 1)), edge=True)
    tiny = torch.tensor([1, 5e-28, 1, 1, 1])
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


@task.steps
def _(old, new):
    asked = yield "the old inputs' experts", lambda old: old > 0, old
    asks = yield "the new inputs' experts", lambda new: new > 0, new
    learning = yield "the changing experts", lambda asks: asks.any(0), asks
    both = yield "the shared experts", torch.logical_and, asked, learning
    return (yield "the risk", lambda both: both.any(1), both)


def _largest(gates):
    return torch.nn.functional.one_hot(gates.argmax(1), gates.shape[1]).bool()


def _above_half(gates):
    return gates > 0.5


def _share_that_changes(both, *, old):
    return (old * both).sum(1) > 0.5


OLD, NEW, CHANGING, SHARED, RISK = (
    "the old inputs' experts",
    "the new inputs' experts",
    "the changing experts",
    "the shared experts",
    "the risk",
)
LEARNS = "Count any gate above 0, however small: its expert learns and has an effect."
task.changed_each(
    # Which gates count
    ("best_expert_of_both", f"On both sides you look only at the expert with the largest gate. {LEARNS}", {OLD: _largest, NEW: _largest}),
    ("best_expert_of_old", f"For each old input you look only at the expert with the largest gate. {LEARNS}", {OLD: _largest}),
    ("best_expert_of_new", f"For each new input you look only at the expert with the largest gate. {LEARNS}", {NEW: _largest}),
    ("half_on_both_sides", f"On both sides you count an expert only if its gate is above a half. {LEARNS}", {OLD: _above_half, NEW: _above_half}),
    ("half_of_old", f"For old inputs you count an expert only if its gate is above a half. {LEARNS}", {OLD: _above_half}),
    ("half_of_new", f"For new inputs you count an expert only if its gate is above a half. {LEARNS}", {NEW: _above_half}),
    ("half_of_the_answer", "You ask whether the experts that may change together have more than half of an old input's gates. Any contribution to the answer is enough: if one of these experts changes, the answer may.", {RISK: _share_that_changes}),
    ("products_above_half", "You add up products of gates over the experts and ask whether a sum is above a half. Any expert that both inputs ask, however small its gates, puts the answer at risk.", {RISK: lambda both, *, old, new: (old @ new.T > 0.5).any(1)}),
    ("hundredth_on_both_sides", "You leave out gates that are small. A small gate is not 0: its expert learns, and an answer that it contributes to may change.", dict.fromkeys((OLD, NEW), lambda gates: gates > 0.01)),
    # Which experts change
    ("all_new_inputs", "You let an expert change only if *all* new inputs ask it. One of them is enough.", {CHANGING: lambda asks: asks.all(0)}),
    ("first_new_input", "You look only at the first new input. An expert changes if any of them asks it.", {CHANGING: lambda asks: asks[0]}),
    ("last_new_input", "You look only at the last new input, as in a loop that overwrites what it found before. An expert changes if any of them asks it.", {CHANGING: lambda asks: asks[-1]}),
    ("experts_that_stay", "You look for experts that no new input asks. Those experts stay as they are; the ones that a new input asks may change.", {CHANGING: lambda asks: ~asks.any(0)}),
    # Which answers change
    ("all_experts_asked", "You call an old input at risk only if *all* experts that it asks may change. One such expert is enough.", {SHARED: lambda asked, learning: ~asked | learning, RISK: lambda held: held.all(1)}),
    ("more_than_half_of_the_experts", "You call an old input at risk only if more than half of the experts that it asks may change. One such expert is enough.", {RISK: lambda both, *, old: 2 * both.sum(1) > (old > 0).sum(1)}),
    ("all_at_risk", "You call all old inputs at risk. An old input that asks only experts that no new input asks keeps its answer.", {RISK: lambda both: torch.ones(len(both), dtype=torch.bool)}),
    ("none_at_risk", "You call no old input at risk. An expert changes if a new input asks it, and so may every old answer that it contributes to.", {RISK: lambda both: torch.zeros(len(both), dtype=torch.bool)}),
    ("turned_round", "Your result is the wrong way round: it is True where the answer stays the same.", {RISK: lambda both: ~both.any(1)}),
    ("for_each_expert", "You return a truth value for each old input and each expert. The task asks for one for each old input: is there any expert that it asks and that may change?", {RISK: left_out}),
    ("of_the_new_inputs", "Old and new inputs are swapped: you return which new inputs ask an expert that an old one asks.", {"old": lambda old, *, new: new, "new": lambda new, *, old: old}),
    ("products_vanish", "You multiply gates, and the product of two tiny ones is 0 in float32. Compare each gate with 0 separately.", {RISK: lambda both, *, old, new: (old @ new.T > 0).any(1)}),
)  # fmt: skip
