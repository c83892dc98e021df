"""Task 18.catch_wrong_routing: a test that tells correct layers of experts from incorrect ones."""

from functools import partial

import torch

from course_lessons.lesson_18_mixture_of_experts.tasks._layers import RARE, RIGHT, WIDTH, WRONG
from course_lessons.shared.candidate_tests import (
    asking,
    equal_up_to_rounding,
    mistakes_of_tests,
    one_case_each,
    test_of,
    tests_without,
)
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
    "18.catch_wrong_routing",
    "a test that tells correct layers of experts from incorrect ones",
    arguments=("layer",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "The layer returns everything you need: mix its outputs with its gates yourself and compare the result with its y. The work lies in choosing the batches: some mistakes show only when there are so many rows that an expert has no room left, others only in a batch of a single row, and identical rows hide the wrong order.",
        "Take a layer with room for 1 row per expert, and two rows that chose expert 0 with a gate of 0.5. Its outputs are 4 and 6, so y should be 2 and 3. A layer that leaves the second row out returns 2 and 0. If it also returns the gates 0.5 and 0, it is correct; with 0.5 and 0.5 it is incorrect. With only the first row, both return 2.",
        "For each B of 1, a few, and 50 (six experts with room for eight rows each take 48): in a `try` that returns False on any exception: y, gates, outputs = layer(random numbers B×4); expected = the sum over the experts of gates, with a last axis of size 1, times outputs; y must have the shape (B, 4) and agree with expected up to 1e-5. If all batches pass, return True.",
    ),
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


_test = test_of(_trial, {"right": _right})
_mistaken = mistakes_of_tests(
    task,
    _test,
    "layer",
    "Perhaps what you compare y with is wrong, or an error in the test itself, such as an incorrect shape, ends in `except`, which returns False.",
)


# How the test compares


def _by(compare):
    return {"right": partial(_right, compare=compare)}


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "single": ("layers that fail on a batch of a single row, or lose its axis,", "Also try B = 1."),
    "large": (
        "layers that leave out rows for which an expert has no room although their gates are not 0,",
        "Also try a batch of at least 50 rows.",
    ),
}


def _without(parts):
    batches = [1] * ("single" not in parts) + [3, 7] + [55] * ("large" not in parts)
    return lambda layer: _test(layer, batches=batches)


tests_without(task, LEFT_OUT, _without, 2)


for _name, _sentence, _changes in (
    ("no_rounding", "Your test rejects correct layers whose last digits differ from yours. Allow for rounding: torch.allclose(…, atol=1e-5), not torch.equal or `==`.", _by(torch.equal)),
    ("too_much_room", "Layers that round y or their gates pass your test, because your tolerance is too large. Rounding errors stay below 1e-5.", _by(partial(equal_up_to_rounding, room=0.3))),
    ("shapes_only", "Every layer that returns a y of the correct shape passes your test. Mix the outputs with the gates yourself and compare the result with y.", _by(lambda right, came: came.shape == right.shape)),
    ("shape_not_looked_at", "Your test passes a layer that loses the axis of a single row: allclose broadcasts, so a y of shape (4,) agrees with one of shape (1, 4). Also compare the shapes.", _by(lambda right, came: torch.allclose(came, right, atol=1e-5))),
    ("first_row_only", "Your test passes layers that use the first row's gates for all, or forget a later row, because you compare only the first row. Compare every row.", _by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right[0], came[0]))),
    ("last_row_only", "A layer that forgets the first row passes your test, because you compare only the last row. Compare every row.", _by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right[-1], came[-1]))),
    ("sum_only", "Your test passes layers that leave the correct numbers in the wrong rows, because you compare sums. Compare every entry.", _by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right.sum(0), came.sum(0), 1e-4))),
    ("lengths_only", "Your test passes layers that flip the sign of y, or reverse the order of its entries, because you compare the lengths of rows. Compare every entry.", _by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right.norm(dim=1), came.norm(dim=1)))),
    # What the test asks of the gates
    ("gates_have_to_sum_to_1", "Your test rejects correct layers whose gates do not sum to 1: layers with sigmoids, with the single best gate of a softmax, or without room for a row. Any gates are allowed as long as y agrees with them.", {"sums": lambda on: all(equal_up_to_rounding(torch.ones(len(gates)), gates.sum(1)) for _, gates, _ in on)}),
    ("gates_have_to_be_positive", "Your test rejects a correct layer that has gates below 0. Any gates are allowed as long as y agrees with them.", {"signs": lambda on: all((gates >= 0).all() for _, gates, _ in on)}),
    ("gates_divided_by_their_sum", "Your test divides the gates by their sum before it mixes, so it rejects correct layers whose gates do not sum to 1, and layers that divide without saying so pass. Mix with the gates as they are.", {"right": partial(_right, mixed=lambda gates, outputs: _mixed(gates / gates.sum(1, keepdim=True), outputs))}),
    ("softmax_of_the_gates", "Your test takes a softmax of the gates before it mixes, so it rejects nearly every correct layer. They are gates already: mix with them as they are.", {"right": partial(_right, mixed=lambda gates, outputs: _mixed(gates.softmax(1), outputs))}),
    ("gates_left_out", "Your test compares y with the sum of all outputs, without the gates, so it rejects correct layers. Multiply each output by its gate first.", {"right": partial(_right, mixed=lambda gates, outputs: outputs.sum(1))}),
    ("best_expert_only", "Your test compares y with the output of the expert with the largest gate, times this gate, so it rejects correct layers with several experts per row. Add up all outputs, each multiplied by its gate.", {"right": partial(_right, mixed=lambda gates, outputs: outputs[torch.arange(len(gates)), gates.argmax(1)] * gates.amax(1, keepdim=True))}),
    ("mean_over_the_experts", "Your test takes the mean over the experts, not the sum, so it rejects correct layers. Add up the outputs, each multiplied by its gate.", {"right": partial(_right, mixed=lambda gates, outputs: (gates[:, :, None] * outputs).mean(1))}),
    # What the test gives
    ("rows_of_zeros", "Layers that mix up their rows pass your test, because all your rows are zeros and therefore the same. Sample them at random.", {"rows": torch.zeros_like}),
    ("rows_all_the_same", "Layers that mix up their rows pass your test, because all your rows are the same. Sample each of them at random.", {"rows": lambda x: x[:1].expand_as(x).clone()}),
    ("one_row_only", "Your test passes layers that mix up the rows of a batch, or have no room for all of them, because you try only a single row. Also try a batch of 50.", {"batches": (1,)}),
):  # fmt: skip
    _mistaken(_name, _sentence, **_changes)
