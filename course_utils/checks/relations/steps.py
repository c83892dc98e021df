"""Changes of one step on the way to a right answer, which a task's `steps` names."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from course_utils.checks.relations.arguments import of_one, with_one
from course_utils.checks.relations.change import Change, can_be_said
from course_utils.checks.relations.factors import sizes_of
from course_utils.checks.relations.results import is_number, of_tensors
from course_utils.checks.running.contract import is_float
from course_utils.checks.way import steps_of

OPERATIONS = (  # those of a row are taken for one another
    {operator.mul: "`*`", operator.matmul: "`@`", operator.add: "`+`", operator.sub: "`-`", operator.truediv: "`/`"},
    {operator.lt: "`<`", operator.le: "`<=`", operator.gt: "`>`"},
)  # fmt: skip


OF_A_STEP_RESULT = {
    "with {} doubled": lambda t: 2 * t,
    "with {} halved": lambda t: t / 2,
    "with a minus sign in front of {}": torch.neg,
    "with zeros in place of {}": torch.zeros_like,
    "with ones in place of {}": torch.ones_like,
}


@dataclass(frozen=True)
class StepChange:
    """A change of one step: function(operation, operands) gives what goes on from there.

    `text` completes "this is what comes out …"; a step is named by its words. `of_result`: only what the step gives is changed.
    `often`: learners make it often, so it is tried together with another one, too.
    """

    text: str
    step: str
    function: Callable
    of_result: bool = False
    often: bool = False


class Names:
    """What the tensors on the way are called: an argument by its name, transposed or not, and what a step gives by the step's words."""

    def __init__(self, task, args):
        self._names = {}
        for name, arg in zip(task.names, args, strict=False):
            self.add(name, arg)

    def add(self, name, value):
        if isinstance(value, torch.Tensor):
            self._names[self._key(value)] = name

    def of(self, value):
        """Return its name; "" where it has none."""
        return self._names.get(self._key(value), "") if isinstance(value, torch.Tensor) else ""

    @staticmethod
    def _key(tensor):
        return tensor.untyped_storage().data_ptr(), tensor.numel()


def of_steps(task, args: tuple) -> Iterator[StepChange]:
    """Give each change of a step that can be said in a few words: what has no name on the way is not spoken of."""
    met, names = {}, Names(task, args)
    for text, operation, operands, value in steps_of(task.steps_function, args):
        if text not in met:  # a step of a loop comes again, and is changed wherever it comes
            met[text] = operation, operands, [names.of(operand) for operand in operands], value
            names.add(text, value)
    sizes = sizes_of(task, args)
    for text, (operation, operands, called, value) in met.items():
        for change in _of_a_step(text, operation, operands, called, task.names, args, sizes):
            if can_be_said(change.text):
                yield StepChange(change.text, text, change.function, often=change.often)
        if isinstance(value, torch.Tensor):
            changes = _of_a_step_result(task, sizes, text, value)
            yield from (change for change in changes if can_be_said(change.text))
        elif is_number(value):
            for letter in sizes:
                for power, root in ((1, ""), (0.5, "√")):
                    yield StepChange(f"with {root}{letter} in place of {text}", text, SizeInstead(task, letter, power))


def _letters(tensor, sizes):
    """Return a shape in the letters of the task's arguments, as far as the lengths tell them: "B×T×?"."""
    axes = [(letter, size) for letter, size in sizes.items() if letter.isupper()]
    by_length = [[letter for letter, size in axes if size == length] for length in tensor.shape]
    return "×".join(letters[0] if len(letters) == 1 else "?" for letters in by_length)


def _of_a_step_result(task, sizes, step, value):
    if is_float(value):
        for words, function in OF_A_STEP_RESULT.items():
            yield StepChange(words.format(step), step, lambda o, x, f=function: f(o(*x)), of_result=True)
        for letter in sizes:
            for power, root in ((1, ""), (0.5, "√")):
                text = f"with {step} divided by {root}{letter}"
                yield StepChange(text, step, Divided(task, letter, power), of_result=True)
    for change in of_tensors(_letters(value, sizes), value.dim()):
        if change.instead:
            continue  # is among those above
        text = f"with {change.text.format(step)} in place of {step}"
        yield StepChange(text, step, lambda o, x, f=change.function: f(o(*x)), of_result=True)


def _of_a_step(text, operation, operands, called, names, args, sizes):
    """Give each Change, whose function takes (operation, operands), of what goes into a step, or of its operation."""
    if len(operands) == 2:
        for row in OPERATIONS:
            for other, words in row.items():
                if operation in row and other is not operation:
                    phrase = f"with {words} in place of {row[operation]} in {text}"
                    yield Change(phrase, lambda o, ab, f=other: f(*ab), often=True)
        if all(called):
            exchanged = f"with {called[1]} on the left and {called[0]} on the right in {text}"
            yield Change(exchanged, lambda o, ab: o(*ab[::-1]), often=True)
        for place, name in enumerate(called):
            if not name:
                continue
            yield Change(f"with {name} alone in place of {text}", lambda o, ab, p=place: ab[p], often=True)
            for change in of_one(name, _letters(operands[place], sizes), operands[place]):
                of_all = lambda o, ab, p=place, f=change.function: o(*with_one(tuple(ab), p, f))  # noqa: E731
                yield change._replace(text=f"{change.text}, in {text}", function=of_all)
            for other, arg in zip(names, args, strict=False):
                if isinstance(arg, torch.Tensor) and other != name:
                    phrase = f"with {other} in place of {name} in {text}"
                    yield Change(phrase, ArgumentInstead(place, names.index(other)))
    elif called[0]:
        yield Change(f"without the step that gives {text}", lambda o, a: a[0], often=True)
        for change in of_tensors(_letters(operands[0], sizes), operands[0].dim()):
            if change.instead:
                continue  # is a change of what the step gives
            of_all, phrase = lambda o, a, f=change.function: f(a[0]), change.text.format(called[0])
            yield change._replace(text=f"with {phrase} in place of {text}", function=of_all)


class NeedsArguments:
    """A change of a step that needs the arguments; `args` is set before each walk."""

    args = None


class SizeInstead(NeedsArguments):
    """Puts a power of the length of an axis, or of a number among the arguments, in the place of a number."""

    def __init__(self, task, letter, power):
        self.task, self.letter, self.power = task, letter, power

    def __call__(self, operation, operands):
        return sizes_of(self.task, self.args)[self.letter] ** self.power


class Divided(SizeInstead):
    """Divides what a step gives by such a power."""

    def __call__(self, operation, operands):
        return operation(*operands) / super().__call__(operation, operands)


class ArgumentInstead(NeedsArguments):
    """Puts an argument in the place of an operand."""

    def __init__(self, place, argument):
        self.place, self.argument = place, argument

    def __call__(self, operation, operands):
        return operation(*with_one(tuple(operands), self.place, lambda _: self.args[self.argument]))
