"""Task 03.self_attention: one sentence asks, answers and is summed, by three learned projections."""

from operator import matmul

import torch

from course_lessons.shared.mask_mistakes import masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.partial_credit import EDGE
from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes

task = Task(
    "03.self_attention",
    "self-attention with learned projections",
    arguments=("x B×T×D", "weight_q D×A", "weight_k D×A", "weight_v D×E", "mask B×T×T"),
    result=("context B×T×E", "weights B×T×T"),
    difficulty=2,
    importance=5,
    minutes=15,
    offers=("models.attention.attention",),
    hints=(
        "Every word plays three roles: it asks, it can be found, and it has something to give. For each role, the word's vector is multiplied by a separate matrix, "
        "and the rest is attention as you know it.",
        'Take the words "not" = (1, 0) and "great" = (0, 1), and a matrix for the queries with the rows (0, 3) and (2, 0). A row vector times a '
        'matrix picks rows here: "not" asks with (0, 3), and "great" with (2, 0). If the matrix for the keys leaves the words as they are, '
        '"great" scores 2 against "not" and 0 against itself: it attends to "not". Without the first matrix it would score 1 against itself.',
        "query, key, value = x times each of the three matrices; then 03.attention of the three with the mask: scores, masked softmax over the "
        "keys, sum of the values. `reference(query, key, value, mask)` does the second half. Return the context and the weights.",
    ),
    partial=EDGE
    | {
        "empty_row_nan": (0.5, "right for every word that may attend to something."),
        "empty_row_uniform": (0.5, "right for every word that may attend to something."),
    },
)

task.property(rows_sum_to_one)
task.property(no_weight_is_negative)


def _inputs(draw, B, T, D, A, E):
    return tuple(draw.numbers(*shape) for shape in ((B, T, D), (D, A), (D, A), (D, E)))


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=7, A=3, E=11):
        B, T = size.B, size.T
        inputs = _inputs(draw, B, T, size.D, size.A, size.E)
        name = f"B={B}, T={T}, D={size.D}, A={size.A}, E={size.E}"
        yield Case(f"{name}, no mask", (*inputs, None), size.full)
        yield Case(f"{name}, with a mask", (*inputs, draw.mask(B, T, T)), size.full)
    # Not an edge: elsewhere a projection that is left out, or transposed, only raises.
    yield Case("D, A and E all 3", (*_inputs(draw, 2, 5, 3, 3, 3), draw.mask(2, 5, 5)))
    causal = torch.ones(5, 5).tril().bool().repeat(2, 1, 1)
    yield Case("a causal mask", (*_inputs(draw, 2, 5, 7, 3, 4), causal))
    empty = draw.mask(2, 5, 5)
    empty[1, 2] = False
    with_an_empty_row = (*_inputs(draw, 2, 5, 7, 3, 11), empty)
    yield Case("a word that may attend to nothing", with_an_empty_row, edge=True)
    yield Case("a single word, widths of 1, called without a mask", _inputs(draw, 2, 1, 1, 1, 1), edge=True)
    yield Case("as many words as sentences", (*_inputs(draw, 3, 3, 3, 3, 3), draw.mask(3, 3, 3)), True, edge=True)
    x, *weights = _inputs(draw, 2, 3, 2, 2, 2)
    yield Case("scores in the hundreds", (10 * x + 1, *weights, None), edge=True)
    yield Case("a gradient, with a word that may attend to nothing", with_an_empty_row, True, hazard=True)


@task.steps
def _(x, weight_q, weight_k, weight_v, mask=None):
    query = yield "the queries", matmul, x, weight_q
    key = yield "the keys", matmul, x, weight_k
    value = yield "the values", matmul, x, weight_v
    scores = yield "the scores", matmul, query, key.mT
    if mask is not None:
        scores = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    if mask is not None:
        weights = yield "the weights with zeros", lambda w, mask: w.masked_fill(~mask, 0.0), weights, mask
    context = yield "the product of weights and value", matmul, weights, value
    return context, weights


# Projections

task.changed_each(
    ("query_not_projected", "The queries are not projected: each word asks with its own vector. Multiply it by weight_q first.", {"the queries": left_out}),
    ("key_not_projected", "The keys are not projected: they are the words' own vectors. Multiply them by weight_k.", {"the keys": left_out}),
    ("value_not_projected", "The values are not projected: you sum the words' own vectors. What a word gives is its vector times weight_v.", {"the values": left_out}),
    ("nothing_projected", "No projection is used: the words attend to one another as they are.", dict.fromkeys(("the queries", "the keys", "the values"), left_out)),
    ("one_matrix_for_both", "One matrix is used for both queries and keys. weight_k is for the keys.", {"weight_k": lambda _, *, weight_q: weight_q}),
    ("keys_summed", "You sum the keys. The weights are for the values, x times weight_v.", {"weight_v": lambda _, *, weight_k: weight_k}),
    ("matrices_transposed", "The matrices are transposed. They are D×A, D×A and D×E: a word's vector is on their left, as in `x @ weight_q`. Transposed, they fit only if the widths happen to be equal.", dict.fromkeys(("weight_q", "weight_k", "weight_v"), torch.t)),
)  # fmt: skip
task.changed(
    "query_and_key_exchanged",
    "Queries and keys are swapped. The rows of the scores belong to the words that ask, and those go through weight_q.",
    {"weight_q": lambda _, *, weight_k: weight_k, "weight_k": lambda _, *, weight_q: weight_q},
)


# Scores and weights

masked_softmax_mistakes(
    task,
    *("mask_unused", "mask_inverted", "mask_inverted_nan", "mask_inverted_level"),
    *("masked_after", "mask_added", "mask_added_inverted"),
    *("empty_row_nan", "empty_row_uniform"),
    one="A word",
    others="words",
    nothing="Its weights and its context should be zeros.",
)
plus_infinity_mistakes(task, weights_returned=True, others="words")
task.changed_each(
    ("softmax_over_queries", "Your softmax runs over the queries, so the words that ask compete for each key. Each query spreads its weight over the keys, the last axis.", {"the softmax": lambda scores: scores.softmax(1)}),
    ("scaled", "You divide the scores by the square root of the width. That comes in lesson 04; here the scores stay as they are.", {"the scores": lambda query, turned: query @ turned / query.shape[-1] ** 0.5}),
    ("order_swapped", "The two results are swapped: return the context first, then the weights.", {"result": lambda context, weights: (weights, context)}),
)  # fmt: skip
