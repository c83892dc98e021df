"""Task 03.attention: attention as f(Q, K, V)."""

from operator import matmul

import torch

from course_lessons.shared.finite_fill_mistakes import finite_fill_mistakes
from course_lessons.shared.mask_mistakes import masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.partial_credit import EDGE
from course_lessons.shared.weight_properties import no_weight_is_negative, nothing_where_masked, rows_sum_to_one
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes

task = Task(
    "03.attention",
    "attention as f(Q, K, V)",
    arguments=("query B×T×D", "key B×S×D", "value B×S×E", "mask B×T×S"),
    result=("context B×T×E", "weights B×T×S"),
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        (
            "There are three steps: score every query against every key; normalise each query's scores over the keys; take the sum of the values, weighted by the results."
        ),
        (
            "Take the query [1, 1], the keys [ln 3, 0] and [0, 0], where ln 3 ≈ 1.0986, and the values [4] and [8]. The scores are 1.0986 and 0. "
            "Their exponentials are 3 and 1, so the weights are 0.75 and 0.25, and the context is 0.75·4 + 0.25·8 = 5. If the mask hides the "
            "first key, the weights are 0 and 1 and the context is 8. If it hides both, weights and context are zeros."
        ),
        (
            "scores = query times key transposed (swap its last two axes); where the mask is False, put -inf; softmax over the last axis; replace NaN in empty rows with 0; context = weights times value; return context, weights."
        ),
    ),
    partial=EDGE
    | {
        "empty_row_nan": (0.5, "right for every query that may attend to something."),
        "empty_row_uniform": (0.5, "right for every query that may attend to something."),
    },
)


task.property(rows_sum_to_one)


task.property(no_weight_is_negative)


@task.property
def nothing_where_it_is_masked(case, value):
    """No weight where the mask is False."""
    mask = (*case.args, None)[3]
    return None if mask is None else nothing_where_masked(value[1], mask)


@task.property
def context_is_weighted_sum(case, value):
    """The context follows from the weights, whatever they are."""
    context, weights = value
    apart = (context.double() - weights.double() @ case.args[2].double()).abs().max()
    return "Your context is not the sum of the values with your own weights." if apart > 1e-4 else None


def _inputs(draw, B, T, S, D, E):
    return tuple(draw.numbers(*shape) for shape in ((B, T, D), (B, S, D), (B, S, E)))


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, S=5, D=7, E=11):
        B, T, S = size.B, size.T, size.S
        inputs = _inputs(draw, B, T, S, size.D, size.E)
        yield Case(f"B={B}, T={T}, S={S}, D={size.D}, E={size.E}, no mask", (*inputs, None), size.full)
        yield Case(
            f"B={B}, T={T}, S={S}, D={size.D}, E={size.E}, with a mask", (*inputs, draw.mask(B, T, S)), size.full
        )
    each_its_own = torch.tensor([[[True, False], [False, True]], [[False, True], [True, True]]])
    yield Case("B=2, T=2, S=2, D=2, E=2, each query with its own mask", (*_inputs(draw, 2, 2, 2, 2, 2), each_its_own))
    open_and_empty = torch.tensor([[[True, False], [False, False]]])
    inputs = _inputs(draw, 1, 2, 2, 2, 2)
    yield Case("2 queries and 2 keys, the second query may attend to nothing", (*inputs, open_and_empty), edge=True)
    empty = draw.mask(2, 3, 5)
    empty[1, 2] = False
    with_an_empty_row = (*_inputs(draw, 2, 3, 5, 7, 11), empty)
    yield Case("a query that may attend to nothing", with_an_empty_row, edge=True)
    yield Case("as many queries as keys", (*_inputs(draw, 2, 5, 5, 3, 3), draw.mask(2, 5, 5)), True, edge=True)
    yield Case("a single key, widths of 1, called without a mask", _inputs(draw, 2, 3, 1, 1, 1), edge=True)
    across = torch.tensor([[[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]])
    kept = torch.tensor([[[True, True, False]]])
    inputs = (torch.tensor([[[1.0, 0.0]]]), across, draw.numbers(1, 3, 2) + 0.25)
    yield Case("a key at right angles to the query", (*inputs, kept), edge=True)
    for far in ((-100.0, -150.0, 100.0), (-299.0, -300.0, 300.0)):
        inputs = torch.tensor([[[100.0], [-100.0]]]), torch.tensor(far)[None, :, None], torch.eye(3)[None]
        yield Case(f"very large scores, near ±{far[2] * 100:,.0f}", (*inputs, kept.expand(1, 2, 3).clone()), edge=True)
    yield Case("a gradient, with a query that may attend to nothing", with_an_empty_row, True, hazard=True)


@task.steps
def _(query, key, value, mask=None):
    scores = yield "the scores", matmul, query, key.mT
    if mask is not None:
        scores = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    if mask is not None:
        weights = yield ZEROS, lambda w, mask: w.masked_fill(~mask, 0.0), weights, mask
    context = yield "the product of weights and value", matmul, weights, value
    return context, weights


SCORES, MASKED, SOFTMAX = "the scores", "the masked scores", "the softmax"
ZEROS = "the weights with zeros"


# Scores

task.changed_each(
    ("scaled", "You divide the scores by √D. That is the scaled dot product of lesson 04. Here, leave the scores as they are.", {SCORES: lambda query, turned: query @ turned / query.shape[-1] ** 0.5}),
    ("all_axes_reversed", "`key.T` reverses all axes, including the batch. Swap only the last two: `key.mT` or `key.transpose(1, 2)`.", {SCORES: lambda query, _, *, key: query @ key.permute(2, 1, 0)}),
)  # fmt: skip
task.changed(
    "key_not_transposed",
    "`query @ key` multiplies features by keys. The axis that disappears has to be the last one on the left and the second to last on the right: swap the last two axes of key, `key.mT`. Without that this runs only if S = D, and may then give an incorrect result.",
    {SCORES: lambda query, _, *, key: query @ key},
)
task.changed(
    "queries_and_keys_exchanged",
    "Queries and keys are swapped: your weights have a row for each key. The rows belong to the queries, B×T×S.",
    {SCORES: lambda query, turned: (query @ turned).mT, MASKED: left_out, ZEROS: left_out},
)


# The softmax and its mask

masked_softmax_mistakes(
    task,
    *("mask_unused", "mask_inverted", "mask_inverted_nan", "mask_inverted_level"),
    *("masked_after", "masked_with_zeros", "no_softmax"),
    *("mask_added", "mask_added_inverted", "empty_row_nan", "empty_row_uniform"),
    nothing="Return zeros there.",
    zeros=ZEROS,
)
plus_infinity_mistakes(task, weights_returned=True, zeros=ZEROS)
task.changed_each(
    ("softmax_over_queries", "Your softmax runs over the queries, so they compete for each key. Each query spreads its weight over the keys, the last axis.", {SOFTMAX: lambda scores: scores.softmax(1)}),
    ("softmax_over_batch", "Your softmax runs over the batch, so sentences compete with one another. Each query spreads its weight over the keys, the last axis.", {SOFTMAX: lambda scores: scores.softmax(0)}),
    ("one_mask_for_all_queries", "You use the mask of each sentence's first query for all its queries. Each query has its own row in the mask, B×T×S.", {"mask": lambda mask: mask[:, :1].expand_as(mask)}),
    ("one_mask_for_all_sentences", "You use the mask of the first sentence for all sentences. Each sentence has its own, B×T×S.", {"mask": lambda mask: mask[:1].expand_as(mask)}),
    ("zero_is_masked", "A score that is exactly 0 is treated as masked, which happens if you look for the zeros in scores * mask. Use the mask itself.", {"mask": lambda mask, *, query, key: query @ key.mT * mask != 0}),
)  # fmt: skip
finite_fill_mistakes(
    task,
    *("fill_undercut", "filled_with_minus_hundred", "masked_scores_still_count"),
    *("low_fill_undercut", "low_fill_undercut_and_no_zeros"),
    others="the masked keys",
    empty_row="a row with nothing to attend to",
    zeros=ZEROS,
)


# exp without a maximum, and what is written over


def exponentials(scores, *, mask):
    e = scores.exp() * (1 if mask is None else mask)
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30)


def exponentials_alone(masked):
    return masked.exp() / masked.exp().sum(-1, keepdim=True)


task.changed(
    "overflow",
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Subtract each row's maximum first.",
    {MASKED: left_out, SOFTMAX: exponentials, ZEROS: left_out},
)
task.changed(
    "overflow_hidden",
    "exp overflows for a score above about 88, and infinity divided by infinity is NaN. You turn that NaN into zeros, which hides it. Subtract each row's largest score first; only a row with nothing to attend to should be zeros.",
    {SOFTMAX: lambda masked: torch.nan_to_num(exponentials_alone(masked))},
)
task.changed(
    "overflow_and_empty_row",
    "Two things give NaN. exp overflows for a score above about 88, so subtract each row's largest score first. And a query with nothing to attend to gives 0/0: return zeros there.",
    {SOFTMAX: exponentials_alone, ZEROS: left_out},
)
task.changed(
    "written_into_softmax",
    "The values are right, but you write into the result of softmax, which PyTorch still needs for the gradient. Make a new tensor instead, with masked_fill or nan_to_num.",
    {SOFTMAX: lambda scores: scores.softmax(-1).nan_to_num_()},
)
task.changed(
    "written_into_softmax_where_masked",
    "The values are right, but where there is a mask you write into the result of softmax, which PyTorch still needs for the gradient. Make a new tensor instead, with masked_fill or nan_to_num.",
    {ZEROS: lambda weights, mask: weights.masked_fill_(~mask, 0.0)},
)


# What is summed and returned

task.changed_each(
    ("keys_summed", "You sum the keys. Use the keys for the scores and sum the values.", {"value": lambda _, *, key: key}),
    ("order_swapped", "You return the weights first. Return the context first: `return context, weights`.", {"result": lambda context, weights: (weights, context)}),
    ("context_alone", "You return only the context. Return the weights too: `return context, weights`.", {"result": lambda context, weights: context}),
    ("scores_returned", "You return the scores as your second result. Return the weights.", {"result": lambda context, _, *, done: (context, done[SCORES])}),
    ("weights_still_nan", "For a query with nothing to attend to, your context is zeros, but your weights are still NaN. Replace the NaN in the weights, and the context follows.", {ZEROS: left_out, "result": lambda context, weights: (torch.nan_to_num(context), weights)}),
)  # fmt: skip
