"""Changes of one step on the way to a right answer, which a task's `steps` names."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from course_utils.checks.relations.arguments import of_one, with_one
from course_utils.checks.relations.factors import sizes_of
from course_utils.checks.relations.results import is_number, of_tensors
from course_utils.checks.running.contract import is_float

OPERATIONS = {
    operator.matmul: "`@` (the matrix product)",
    operator.mul: "`*` (the product number by number)",
    operator.add: "`+`",
    operator.sub: "`-`",
    operator.truediv: "`/`",
    operator.lt: "`<`",
    operator.le: "`<=`",
    operator.gt: "`>`",
}


OF_A_STEP_RESULT = {
    "if {} were doubled": lambda t: 2 * t,
    "if {} were halved": lambda t: t / 2,
    "if the sign of {} were flipped": torch.neg,
    "if zeros stood in place of {}": torch.zeros_like,
}


def walk(steps: Callable, args: tuple, changes: dict[str, Callable], stop: str = ""):
    """Go the way to a right answer with some steps changed, each a function(operation, operands), or up to one; return the result."""
    way = steps(*args)
    step = next(way)
    while True:
        text, operation, *operands = step
        value = changes[text](operation, operands) if text in changes else operation(*operands)
        if text == stop:
            return value
        try:
            step = way.send(value)
        except StopIteration as end:
            return end.value


@dataclass(frozen=True)
class StepChange:
    """A change of one step: function(operation, operands) gives what goes on from there.

    `text` completes "you return what the right computation would give …"; a step is named by its words. `common`: often made, so that
    it is tried together with another one too; `of_result`: only what the step gives is changed.
    """

    text: str
    step: str
    function: Callable
    common: bool = False
    of_result: bool = False


def of_steps(task, args: tuple) -> Iterator[StepChange]:
    """Give each change of a step."""
    met = {}

    def noting(text):
        return lambda operation, operands: met.setdefault(text, (operation, operands, operation(*operands)))[2]

    way = task.steps_function(*args)
    texts, step = [], next(way)
    while True:
        texts.append(step[0])
        try:
            step = way.send(noting(step[0])(step[1], step[2:]))
        except StopIteration:
            break
    for text in dict.fromkeys(texts):  # a step of a loop comes again, and is changed wherever it comes
        operation, operands, value = met[text]
        for words, function, common in _of_a_step(text, operation, operands, value, task.names, args):
            yield StepChange(words, text, function, common)
        if isinstance(value, torch.Tensor):
            yield from _of_a_step_result(task, args, text, value)


def _of_a_step_result(task, args, step, value):
    if is_float(value):
        for words, function in OF_A_STEP_RESULT.items():
            yield StepChange(words.format(step), step, lambda o, x, f=function: f(o(*x)), of_result=True)
        for letter in sizes_of(task, args):
            for power, root in ((1, ""), (0.5, "√")):
                text = f"if {step} were divided by {root}{letter}"
                yield StepChange(text, step, Divided(task, letter, power), of_result=True)
    for words, function in of_tensors("", value.dim()):
        text = f"if it went on with {words.format(step)}"
        yield StepChange(text, step, lambda o, x, f=function: f(o(*x)), of_result=True)


def _of_a_step(text, operation, operands, value, names, args):
    """Give (words, function(operation, operands), is it common) for each change of what goes into a step, or of its operation."""
    if len(operands) == 2:
        if operation in OPERATIONS:
            for other, words in OPERATIONS.items():
                if other is not operation:
                    yield (
                        f"if you used {words} in place of {OPERATIONS[operation]} to compute {text}",
                        lambda o, ab, f=other: f(*ab),
                        True,
                    )
        yield f"if left and right were exchanged in the step that computes {text}", lambda o, ab: o(*ab[::-1]), True
        yield (
            f"if you went on with the left side of the step that computes {text}, without taking that step",
            lambda o, ab: ab[0],
            True,
        )
        yield (
            f"if you went on with the right side of the step that computes {text}, without taking that step",
            lambda o, ab: ab[1],
            True,
        )
        for place, side in enumerate(("left", "right")):
            where = f"the {side} side of the step that computes {text}"
            for words, function in of_one(where, "", operands[place]):
                common = "exchanged" in words or "zeros" in words
                yield words, lambda o, ab, p=place, f=function: o(*with_one(tuple(ab), p, f)), common
            for name, arg in zip(names, args, strict=False):
                if isinstance(arg, torch.Tensor) or is_number(arg) and is_number(operands[place]):
                    i = names.index(name)
                    yield f"if {name} itself stood on {where}", ArgumentInstead(place, i), False
    elif is_number(operands[0]):
        for words, function in of_one(f"the number that goes into {text}", "", operands[0]):
            yield words, lambda o, a, f=function: o(f(a[0])), False
    elif isinstance(operands[0], torch.Tensor):
        yield f"with the step that gives {text} left out", lambda o, a: a[0], True
        for words, function in of_tensors("", operands[0].dim()):
            common = words.startswith(("the softmax", "the sum", "the mean", "the sigmoid", "the hyperbolic"))
            yield (
                f"with {text} replaced by {words.format('the input to that step')}",
                lambda o, a, f=function: f(a[0]),
                common,
            )


class NeedsArguments:
    """A change of a step that needs the arguments; `args` is set before each walk."""

    args = None


class Divided(NeedsArguments):
    """Divides what a step gives by a power of the length of an axis, or of a number among the arguments."""

    def __init__(self, task, letter, power):
        self.task, self.letter, self.power = task, letter, power

    def __call__(self, operation, operands):
        return operation(*operands) / sizes_of(self.task, self.args)[self.letter] ** self.power


class ArgumentInstead(NeedsArguments):
    """Puts an argument in the place of an operand."""

    def __init__(self, place, argument):
        self.place, self.argument = place, argument

    def __call__(self, operation, operands):
        return operation(*with_one(tuple(operands), self.place, lambda _: self.args[self.argument]))
