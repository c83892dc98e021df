"""The reference computation with changes: what a mistake may change, and what its function receives."""

from operator import add, truediv

import pytest
import torch

from course_utils.checks.reference_trace import left_out
from course_utils.checks.task import Mistake, Task

task = Task(
    "98.shares",
    "numbers divided by their sum",
    arguments=("numbers S", "mask S"),
    result=("shares S", "total"),
    difficulty=1,
    importance=1,
    minutes=1,
)
NUMBERS, MASK = torch.tensor([1.0, 2.0, 5.0]), torch.tensor([True, True, False])


@task.steps
def _(numbers, mask=None):
    if mask is not None:
        numbers = yield "the numbers that count", torch.mul, numbers, mask
    total = yield "the sum", torch.sum, numbers
    shares = yield "the shares", truediv, numbers, total
    return shares, total


@pytest.mark.parametrize(
    "changes, shares",
    [
        ({}, [1 / 3, 2 / 3, 0]),
        ({"the shares": left_out}, [1, 2, 0]),
        ({"the shares": add}, [4, 5, 3]),
        ({"the shares": lambda numbers, total, *, mask: numbers / mask.sum()}, [0.5, 1, 0]),
        ({"the numbers that count": lambda numbers, mask, *, right: right(numbers, ~mask)}, [0, 0, 1]),
        ({"the shares": lambda numbers, total, *, done: numbers + done["the sum"]}, [4, 5, 3]),
        ({"the sum": left_out, "the shares": lambda numbers, same, power=2: same**power}, [1, 4, 0]),
        ({"mask": torch.logical_not}, [0, 0, 1]),
        ({"numbers": lambda numbers, *, mask: numbers + mask}, [2 / 5, 3 / 5, 0]),
        ({"result": lambda shares, total: (shares.flip(0), total)}, [0, 2 / 3, 1 / 3]),
    ],
)
def test_a_step_an_argument_or_the_result_is_changed(changes, shares):
    assert torch.allclose(task.variant(changes)(NUMBERS, MASK)[0], torch.tensor(shares).float())


def test_an_argument_that_is_left_out_stays_so():
    variant = task.variant({"mask": torch.logical_not})
    assert torch.allclose(variant(NUMBERS)[0], NUMBERS / 8) and torch.allclose(variant(NUMBERS, None)[0], NUMBERS / 8)


def test_arguments_may_be_given_by_name():
    assert torch.allclose(task.variant({})(mask=MASK, numbers=NUMBERS)[0], torch.tensor([1 / 3, 2 / 3, 0]))


def test_gradients_flow_through_a_changed_way():
    numbers = NUMBERS.clone().requires_grad_()
    task.variant({"the shares": left_out})(numbers, MASK)[0].sum().backward()
    assert torch.equal(numbers.grad, MASK.float())


def test_a_mistake_is_found_by_its_name():
    function = task.variant({"the shares": left_out})
    task.mistakes.append(Mistake("unscaled", "Divide by the sum.", function))
    assert task.wrong("unscaled") is function and task.sentence("unscaled") == "Divide by the sum."
    with pytest.raises(KeyError, match="nobody"):
        task.wrong("nobody")


def test_a_variant_without_steps_changes_arguments_and_result():
    plain = Task("98.sum", "a sum", ("numbers S",), "sum", difficulty=1, importance=1, minutes=1)
    plain.oracle(lambda numbers: numbers.sum())
    assert plain.variant({"numbers": torch.neg, "result": lambda total: 2 * total})(NUMBERS) == -16
