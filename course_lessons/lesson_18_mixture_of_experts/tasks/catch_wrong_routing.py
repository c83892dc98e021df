"""Task 18.catch_wrong_routing: a test that tells correct layers of experts from incorrect ones."""

from functools import partial

import torch

from course_lessons.lesson_18_mixture_of_experts.tasks._layers import RARE, RIGHT, WIDTH, WRONG
from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, one_case_each, test_of
from course_utils.checks.task import Task

MOST = 1000  # rows, at most
LARGEST = 10  # of what a test gives, so that rounding stays below 1e-5


def _problem(x):
    """What is wrong with what a test gives to a layer; None for nothing."""
    if not isinstance(x, torch.Tensor) or x.dtype != torch.float32:
        return "Your test calls a layer with something that is not a float32 tensor. It should be B×4."
    if x.dim() != 2 or x.shape[1] != WIDTH or not 1 <= len(x) <= MOST:
        return f"Your test calls a layer with a tensor of shape {tuple(x.shape)}. It should be B×4, with B from 1 to {MOST}."
    if not (x.abs() <= LARGEST).all():
        return f"Your test calls a layer with NaN, infinity or numbers above {LARGEST} in size. Random numbers of about 1 are enough."
    return None


task = Task(
    __name__,
    "a test that tells correct layers of experts from incorrect ones",
    arguments=("layer",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=3,
    importance=4,
    minutes=20,
)


one_case_each(task, RIGHT, WRONG, RARE)


# What a test promises itself of a layer


def _trial(layer, batches=(1, 3, 11, 55), rows=torch.clone):
    """What a layer returns for batches of these sizes."""
    draw = torch.Generator().manual_seed(3)
    return [layer(rows(torch.randn(B, WIDTH, generator=draw))) for B in batches]


def _mixed(gates, outputs):
    return (gates[:, :, None] * outputs).sum(1)


def _right(on, mixed=_mixed, compare=equal_up_to_rounding):
    """y is the sum of the outputs, each times its gate."""
    return all(compare(mixed(gates, outputs), y) for y, gates, outputs in on)


_mistaken = MistakenTests(task, test_of(_trial, {"right": _right}))


# How the test compares


def _by(compare):
    return {"right": partial(_right, compare=compare)}


LEFT_OUT = ("single", "large")  # what a test may leave out


_mistaken.without(
    LEFT_OUT, 2, lambda parts: {"batches": [1] * ("single" not in parts) + [3, 7] + [55] * ("large" not in parts)}
)


_mistaken("no_rounding", **_by(torch.equal))
_mistaken("too_much_room", **_by(partial(equal_up_to_rounding, tolerance=0.3)))
_mistaken("shapes_only", **_by(lambda right, came: came.shape == right.shape))
_mistaken("shape_not_looked_at", **_by(lambda right, came: torch.allclose(came, right, atol=1e-5)))
_mistaken(
    "first_row_only", **_by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right[0], came[0]))
)
_mistaken(
    "last_row_only", **_by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right[-1], came[-1]))
)
_mistaken(
    "sum_only",
    **_by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right.sum(0), came.sum(0), 1e-4)),
)
_mistaken.on_less_than_all(_by)

# What the test asks of the gates

_mistaken(
    "gates_have_to_sum_to_1",
    sums=lambda on: all(equal_up_to_rounding(torch.ones(len(gates)), gates.sum(1)) for _, gates, _ in on),
)
_mistaken("gates_have_to_be_positive", signs=lambda on: all((gates >= 0).all() for _, gates, _ in on))
_mistaken(
    "gates_divided_by_their_sum",
    right=partial(_right, mixed=lambda gates, outputs: _mixed(gates / gates.sum(1, keepdim=True), outputs)),
)
_mistaken("softmax_of_the_gates", right=partial(_right, mixed=lambda gates, outputs: _mixed(gates.softmax(1), outputs)))
_mistaken("gates_left_out", right=partial(_right, mixed=lambda gates, outputs: outputs.sum(1)))
_mistaken(
    "best_expert_only",
    right=partial(
        _right,
        mixed=lambda gates, outputs: outputs[torch.arange(len(gates)), gates.argmax(1)] * gates.amax(1, keepdim=True),
    ),
)
_mistaken(
    "mean_over_the_experts", right=partial(_right, mixed=lambda gates, outputs: (gates[:, :, None] * outputs).mean(1))
)

# What the test gives

_mistaken("rows_of_zeros", rows=torch.zeros_like)
_mistaken("rows_all_the_same", rows=lambda x: x[:1].expand_as(x).clone())
_mistaken("one_row_only", batches=(1,))
