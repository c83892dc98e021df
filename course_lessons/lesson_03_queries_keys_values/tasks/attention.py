"""Task 03.attention: attention as f(Q, K, V)."""

import torch

from course_lessons.shared.partial_credit import EDGE
from course_lessons.shared.weight_properties import no_weight_is_negative, nothing_where_masked, rows_sum_to_one
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "attention as f(Q, K, V)",
    arguments=("query B×T×D", "key B×S×D", "value B×S×E", "mask B×T×S"),
    result=("context B×T×E", "weights B×T×S"),
    difficulty=3,
    importance=5,
    minutes=20,
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


def exponentials(scores, mask):
    """Take the place of the softmax: by hand, without subtracting the maximum."""
    e = scores.exp() * (1 if mask is None else mask)
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30)
