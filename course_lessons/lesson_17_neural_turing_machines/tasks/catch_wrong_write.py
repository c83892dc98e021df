"""Task 17.catch_wrong_write: a test that tells correct writes from incorrect ones."""

from functools import partial
from types import SimpleNamespace

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._writers import RARE, RIGHT, WRONG, by_einsum
from course_lessons.shared.candidate_tests import (
    asking,
    equal_up_to_rounding,
    finite,
    mistakes_of_comparing,
    mistakes_of_tests,
    one_case_each,
    test_of,
    tests_without,
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
    "17.catch_wrong_write",
    "a test that tells correct writes from incorrect ones",
    arguments=("candidate",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE)),
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Write your own version of the write, as plainly as you can, and compare every entry. The work lies in the inputs: with zeros, ones or equal sizes, many mistakes give the same result as a correct write.",
        "Take one entry of a memory, 4, the weight 1, erase 1 and add 6. A correct write gives 4·(1 - 1·1) + 1·6 = 6, and so does one that erases all positions equally. With the weight 0.5, the correct one gives 4·0.5 + 3 = 5 and the other 4·0 + 3 = 3. With 0 instead of the 4, both give 3. So use memories that are not empty, and weights between 0 and 1.",
        "Sample memory, weights, erase and add at random, with B, N and W all different and at least 2; divide the weights so that a row sums to less than 1; let add contain numbers above 1 and below 0. expected = memory times (1 minus weights times erase), plus weights times add, with the axes lined up. In a `try` that returns False on any exception: result = candidate(copies of all four); result has the shape of expected and agrees with it up to 1e-5; the copy of the memory is unchanged.",
    ),
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


def _memory_stays(on):
    """The memory that was given is as it was."""
    return torch.equal(on.given, on.memory)


_test = test_of(_trial, {"right": _right, "unaltered": _memory_stays})
_mistaken = mistakes_of_tests(
    task,
    _test,
    "candidate",
    "Perhaps what you compare with is wrong, or an error in the test itself, such as an incorrect shape, ends in `except`, which returns False.",
)


# How the test compares


def _by(compare):
    return {"right": partial(_right, compare=compare)}


mistakes_of_comparing(
    _mistaken,
    "candidate",
    "Your test rejects correct candidates whose last digits differ from yours.",
    "Your test passes candidates whose numbers are only nearly correct, such as one that rounds them to three digits",
    0.03,
    _by,
)


LEFT_OUT = {  # what a test may leave out: what passes it then, what to do, and how the test is changed
    "altered": (
        "candidates that alter the memory that they are given",
        "Pass the candidate a copy of it and check whether the copy stays unchanged.",
        {"unaltered": None},
    ),
    "less": (
        "candidates that divide the weights by their sum",
        "Let a row of weights sum to less than 1.",
        {"summing_to": 1.0},
    ),
    "rows": (
        "candidates that mix up the rows of a batch, or work on only one,",
        "Use a batch of at least two rows.",
        {"sizes": (1, 5, 4)},
    ),
}


def _without(parts):
    left = {key: value for part in parts for key, value in LEFT_OUT[part][2].items()}
    return lambda candidate: _test(candidate, **left)


tests_without(task, LEFT_OUT, _without, 2)


for _name, _sentence, _changes in (
    ("runs_at_all", "Every candidate that returns finite numbers of the correct shape and leaves the memory unchanged passes your test. Compare the numbers with the ones from your own write.", _by(finite)),
    ("first_row_only", "Your test passes candidates that use the first row's vectors for all rows, or return only that row, because you compare only the first row. Compare every entry and the shape.", _by(lambda right, came: torch.allclose(came[0], right[0], atol=1e-5))),
    ("last_row_only", "Your test passes candidates that use the last row's vectors for all rows, because you compare only the last row. Compare every entry.", _by(lambda right, came: len(came) == len(right) and equal_up_to_rounding(right[-1], came[-1]))),
    ("sum_only", "Your test passes candidates that put the correct numbers in the wrong positions, because you compare sums. Compare every entry.", _by(lambda right, came: came.shape == right.shape and equal_up_to_rounding(right.sum(), came.sum(), 1e-4))),
    # What the test gives
    ("as_many_places_as_numbers", "Your test passes a candidate that cuts its result into W positions of N entries, because your memory has as many positions as each has entries. Let N and W differ.", {"sizes": (3, 4, 4)}),
    ("one_place", "Your test passes candidates that put weights at the wrong positions, or sum over the positions, because your memory has a single position. Use at least two.", {"sizes": (3, 1, 4)}),
    ("even_weights", "Your test passes candidates that move the weights to other positions, or use their mean, because all weights of a row are equal. Draw them at random.", {"weights": lambda weights: torch.full_like(weights, 0.8 / weights.shape[1])}),
    ("weights_at_one_place", "Your test passes candidates that write only to the position with the largest weight, or square the weights, because yours are 1 at one position and 0 elsewhere. Use weights in between.", {"weights": lambda weights: torch.nn.functional.one_hot(weights.argmax(1), weights.shape[1]).float()}),
    ("empty_memory", "Candidates that erase too much, or nothing, pass your test: your memory contains only zeros, so there is nothing to erase. Fill it with random numbers.", {"memory": torch.zeros_like}),
    ("memory_of_ones", "Your test passes a candidate that subtracts weight times erase whatever the memory contains, and one that ignores it, because your memory contains only ones. Fill it with random numbers.", {"memory": torch.ones_like}),
    ("erase_of_zeros", "Candidates that erase wrongly, or not at all, pass your test, because your erase vectors are zeros. Draw them at random, between 0 and 1.", {"erase": torch.zeros_like}),
    ("erase_of_ones", "Candidates on which erase has no effect pass your test, because your erase vectors are ones. Draw them at random, between 0 and 1.", {"erase": torch.ones_like}),
    ("erase_of_zeros_and_ones", "Your test passes a candidate that rounds erase to 0 or 1, because yours contains nothing else. Draw it at random, between 0 and 1.", {"erase": torch.round}),
    ("add_of_zeros", "Candidates that add wrongly, or not at all, pass your test, because your add vectors are zeros. Draw them at random.", {"add": torch.zeros_like}),
    ("add_of_ones", "Candidates that mix up the add vectors pass your test, because yours are ones. Draw them at random, with numbers above 1 and below 0.", {"add": torch.ones_like}),
    ("add_above_zero", "Your test passes candidates that drop the sign of what is added, or replace negative numbers with 0, because none of the numbers that you add is negative. Draw add with torch.randn.", {"add": torch.abs}),
    ("same_vectors_in_all_rows", "Your test passes candidates that use the first row's vectors for all rows, because all your rows are the same. Let weights, erase and add differ from row to row.", dict.fromkeys(("weights", "erase", "add"), lambda rows: rows[:1].expand_as(rows))),
):  # fmt: skip
    _mistaken(_name, _sentence, **_changes)
