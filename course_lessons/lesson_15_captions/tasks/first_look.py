"""Task 15.first_look: what a captioner reads before its first word, repaired; the mistakes are the bugs of the version in the prompt."""

from itertools import combinations
from operator import add, matmul, mul

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "15.first_look",
    "the look before the first word",
    arguments=("annotations B×L×E", "weights"),
    result="gated B×E",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Check each line against one promise, with the smallest input you can find. What should the result be for a picture that is the only one in its batch? What if every cell occurs twice?",
        "Take one picture with the annotations [1, 0] and [3, 4], and let `first` be [[1, -1]], `query` and `key` be zeros and `gate` be [ln 3]. The mean annotation is [2, 2], so the state is tanh(2 - 2) = 0. All scores are equal, so the weights are 0.5 and 0.5 and the context is [2, 2]. The gate is σ(0) = 0.5, so the result is [1, 1].",
        "mean = annotations averaged over the cells, B×E; state = tanh of first times mean, B×H; hidden = tanh of the sum of query times state and key times each annotation, B×L×A; weights of the cells = softmax of v times hidden, over the axis of the cells; context = their weighted sum; return it times the sigmoid of gate times state, one number for each row.",
    ),
    partial=USUAL,
)


@task.property
def a_gate_takes_away(case, value):
    """The context is a mean of the annotations, and σ lies between 0 and 1."""
    most = case.args[0].abs().amax(1)  # B E
    outside = value.abs() > most + 1e-3
    if not outside.any():
        return None
    row, feature = divmod(int(outside.int().argmax()), most.shape[1])
    return f"Apart from its sign, a weighted mean times a gate is never larger than the largest of the numbers that are averaged. Without signs, feature {feature} of row {row} is at most {most[row, feature]:.4g} in the annotations, and {abs(value[row, feature]):.4g} in your result."


def _inputs(draw, B, L, E, H, A, dtype=torch.float32):
    shapes = {"first": (H, E), "query": (A, H), "key": (A, E), "v": (A,), "gate": (H,)}
    weights = {name: draw.numbers(*shape, dtype=dtype) / 2 + 0.125 for name, shape in shapes.items()}
    return draw.numbers(B, L, E, dtype=dtype) + 0.25, weights


@task.cases
def _(draw):
    for size in sizes(B=3, L=5, E=7, H=4, A=6):
        name = f"{count(size.B, 'picture')} of {count(size.L, 'cell')}, widths E={size.E}, H={size.H}, A={size.A}"
        yield Case(name, _inputs(draw, *(getattr(size, letter) for letter in "BLEHA")), size.full)
    yield Case("as many pictures as cells", _inputs(draw, 3, 3, 5, 2, 4))
    yield Case("all widths 5", _inputs(draw, 2, 3, 5, 5, 5))
    yield Case("7 pictures of 2 cells", _inputs(draw, 7, 2, 3, 5, 4), True)
    yield Case("2 pictures of a single cell", _inputs(draw, 2, 1, 3, 5, 4), True, edge=True)
    yield Case("196 cells", _inputs(draw, 2, 196, 3, 5, 4), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, 2, 4, torch.float64), True, hazard=True)


@task.steps
def _(annotations, weights):
    mean = yield "the mean annotation", lambda annotations: annotations.mean(1), annotations
    product = yield "the product with first", matmul, mean, weights["first"].mT
    state = yield "the state", torch.tanh, product
    asked = yield "the product with query", matmul, state, weights["query"].mT
    keys = yield "the keys", matmul, annotations, weights["key"].mT
    added = yield "the sums before tanh", add, asked[:, None], keys
    hidden = yield "the hidden units", torch.tanh, added
    scores = yield "the scores", matmul, hidden, weights["v"]
    shares = yield "the weights of the cells", lambda scores: scores.softmax(1), scores
    context = yield (
        "the context",
        lambda shares, annotations: (shares[..., None] * annotations).sum(1),
        shares,
        annotations,
    )
    score = yield "the product with gate", matmul, state, weights["gate"]
    gate = yield "the gate", torch.sigmoid, score
    gated = yield "the gated context", mul, gate[:, None], context
    return gated


FAULTS = {  # of the version in the prompt: what is changed, and what to do
    "summed": (
        {"the mean annotation": lambda annotations: annotations.sum(1)},
        "Compute the state from the mean annotation, not from the sum: a finer grid would give a different state.",
    ),
    "half_a_tanh": (
        {"the sums before tanh": lambda asked, keys: asked.tanh() + keys, "the hidden units": left_out},
        "Put tanh around the sum of the query's part and the key's part. As it is, the query adds the same number to every cell's score, and a softmax over the cells cancels it.",
    ),
    "softmax_over_the_batch": (
        {"the weights of the cells": lambda scores: scores.softmax(0)},
        "Let the softmax run over the cells, axis 1, so that each picture's weights sum to 1.",
    ),
    "gate_by_tanh": ({"the gate": torch.tanh}, "Use the sigmoid for the gate, so that it lies between 0 and 1."),
}
LEFT = ("One of the four bugs is left.", "Two of the four bugs are left.", "Three of the four bugs are left.")
LEFT = *LEFT, "This is the version in the prompt, with all four bugs."
for _number, _left in enumerate(LEFT, 1):
    for _names in combinations(FAULTS, _number):
        _changes = {step: change for name in _names for step, change in FAULTS[name][0].items()}
        task.changed("_and_".join(_names), " ".join([_left, *(FAULTS[name][1] for name in _names)]), _changes)


task.changed_each(
    ("tanh_of_the_keys", "You apply tanh only to the keys. What the query adds outside tanh is the same for every cell's score, so the softmax cancels it. Put tanh around the sum of the query's part and the key's part.", {"the sums before tanh": lambda asked, keys: asked + keys.tanh(), "the hidden units": left_out}),
    ("no_tanh", "The tanh around the product of `first` and the mean annotation is missing: the state is tanh(W m), where W is `first` and m the mean annotation.", {"the state": left_out}),
    ("no_softmax", "You use the cells' scores as weights. A softmax over the cells turns them into weights.", {"the weights of the cells": left_out}),
    ("gate_without_sigmoid", "You multiply by the gate's score itself, which may be negative or above 1. The gate is the sigmoid of this score.", {"the gate": left_out}),
    ("tanh_of_the_query_too", "You have put tanh around the sum of query and key but kept the one around the query. Apply it once, to the sum.", {"the product with query": lambda state, query: (state @ query).tanh()}),
    ("one_minus_the_gate", "Your gate is inverted: where it should let everything through, it lets nothing through. Multiply by σ, not by 1 - σ.", {"the gate": lambda score: 1 - score.sigmoid()}),
    ("softmax_gate", "Your gates add up to 1 over the pictures. Each picture has its own gate: apply the sigmoid to each score.", {"the gate": lambda score: score.softmax(0)}),
)  # fmt: skip
