"""Task 17.catch_wrong_write: a test that tells correct writes from incorrect ones."""

from functools import partial
from types import SimpleNamespace

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._writers import RARE, RIGHT, WRONG, by_einsum
from course_lessons.shared.candidate_tests import (
    MistakenTests,
    asking,
    equal_up_to_rounding,
    finite,
    one_case_each,
    test_of,
)
from course_utils.checks.task import Task

MOST = 100  # rows, positions and numbers in a position, at most
LARGEST = 100  # of what a memory holds, or is added


def _problem(memory, weights, erase, add):
    """What is wrong with the arguments that a test gives to a candidate; None for nothing."""
    if not isinstance(memory, torch.Tensor) or memory.dim() != 3 or not memory.numel() or max(memory.shape) > MOST:
        return (
            f"Your test calls a candidate with a `memory` that is not a tensor B×N×W, with B, N and W from 1 to {MOST}."
        )
    B, N, W = memory.shape
    shapes = {"memory": (B, N, W), "weights": (B, N), "erase": (B, W), "add": (B, W)}
    for (name, shape), tensor in zip(shapes.items(), (memory, weights, erase, add), strict=True):
        if not isinstance(tensor, torch.Tensor) or tensor.dtype != torch.float32 or tensor.shape != shape:
            wanted = "×".join(map(str, shape))
            return f"Your test calls a candidate with `{name}` that is not a float32 tensor of the correct shape. With this `memory` it should be {wanted}."
        if not (tensor.abs() <= LARGEST).all():
            return f"Your test calls a candidate with `{name}` that contains NaN, infinity or numbers above {LARGEST} in size. Random numbers of about 1 are enough."
    for name, tensor in (("weights", weights), ("erase", erase)):
        if tensor.min() < 0 or tensor.max() > 1:
            return f"Your test calls a candidate with `{name}` below 0 or above 1. torch.rand gives numbers in between."
    return None


task = Task(
    __name__,
    "a test that tells correct writes from incorrect ones",
    arguments=("candidate",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE)),
    difficulty=3,
    importance=4,
    minutes=20,
)


one_case_each(task, RIGHT, WRONG, RARE)


# What a test promises itself of a candidate


def _trial(
    candidate,
    sizes=(3, 5, 4),
    summing_to=0.8,
    memory=torch.clone,
    weights=torch.clone,
    erase=torch.clone,
    add=torch.clone,
):
    """What a candidate makes of random inputs, each of which goes through the function of its name first."""
    B, N, W = sizes
    draw = torch.Generator().manual_seed(3)
    drawn = torch.rand(B, N, generator=draw) + 0.1
    args = (
        memory(torch.randn(B, N, W, generator=draw)),
        weights(summing_to * drawn / drawn.sum(1, keepdim=True)),
        erase(torch.rand(B, W, generator=draw)),
        add(2 * torch.randn(B, W, generator=draw)),
    )
    given = [arg.clone() for arg in args]
    return SimpleNamespace(came=candidate(*given), right=by_einsum(*args), memory=args[0], given=given[0])


def _right(on, compare=equal_up_to_rounding):
    """The numbers are those of a write."""
    return compare(on.right, on.came)


_test = test_of(_trial, {"right": _right, "unaltered": lambda on: torch.equal(on.given, on.memory)})
_mistaken = MistakenTests(task, _test)


# How the test compares


def _by(compare):
    return {"right": partial(_right, compare=compare)}


_mistaken.by_comparing(0.03, _by)
_mistaken.on_less_than_all(_by)


LEFT_OUT = {  # what a test may leave out, and what that changes
    "altered": ("unaltered", None),
    "less": ("summing_to", 1.0),
    "rows": ("sizes", (1, 5, 4)),
}


_mistaken.without(LEFT_OUT, 2)


_mistaken("runs_at_all", **_by(finite))
_mistaken("first_row_only", **_by(lambda right, came: torch.allclose(came[0], right[0], atol=1e-5)))
_mistaken(
    "last_row_only", **_by(lambda right, came: len(came) == len(right) and equal_up_to_rounding(right[-1], came[-1]))
)
_mistaken(
    "sum_only",
    **_by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right.sum(), came.sum(), 1e-4)),
)

# What the test gives

_mistaken("as_many_places_as_numbers", sizes=(3, 4, 4))
_mistaken("one_place", sizes=(3, 1, 4))
_mistaken("even_weights", weights=lambda weights: torch.full_like(weights, 0.8 / weights.shape[1]))
_mistaken(
    "weights_at_one_place",
    weights=lambda weights: torch.nn.functional.one_hot(weights.argmax(1), weights.shape[1]).float(),
)
_mistaken("empty_memory", memory=torch.zeros_like)
_mistaken("memory_of_ones", memory=torch.ones_like)
_mistaken("erase_of_zeros", erase=torch.zeros_like)
_mistaken("erase_of_ones", erase=torch.ones_like)
_mistaken("erase_of_zeros_and_ones", erase=torch.round)
_mistaken("add_of_zeros", add=torch.zeros_like)
_mistaken("add_of_ones", add=torch.ones_like)
_mistaken("add_above_zero", add=torch.abs)
_mistaken(
    "same_vectors_in_all_rows", **dict.fromkeys(("weights", "erase", "add"), lambda rows: rows[:1].expand_as(rows))
)
