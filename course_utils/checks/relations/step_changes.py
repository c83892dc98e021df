"""Changes of one step of the reference computation, which a task's `steps` names."""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from course_utils.checks.reference_trace import trace_steps
from course_utils.checks.relations.argument_changes import of_one, with_one
from course_utils.checks.relations.change import Change, is_readable
from course_utils.checks.relations.factors import sizes_of
from course_utils.checks.relations.result_changes import is_number, of_tensors
from course_utils.checks.running.contract import is_float
from course_utils.checks.task import Task

OPERATIONS = (  # in a row: mistaken for one another
    {operator.mul: "`*`", operator.matmul: "`@`", operator.add: "`+`", operator.sub: "`-`", operator.truediv: "`/`"},
    {operator.lt: "`<`", operator.le: "`<=`", operator.gt: "`>`"},
)  # fmt: skip
OFTEN = [  # pairs confused so often that this may be one of two mistakes
    {operator.mul, operator.matmul},
    {operator.mul, operator.truediv},
    {operator.add, operator.sub},
    {operator.lt, operator.le},
    {operator.lt, operator.gt},
]
SAME = {torch.add: operator.add, torch.sub: operator.sub, torch.mul: operator.mul, torch.div: operator.truediv}
WITHOUT_THE_RIGHT = {  # what was not done if only the left operand remains
    operator.add: "without adding {1} to {0}",
    operator.sub: "without subtracting {1} from {0}",
    operator.mul: "without multiplying {0} by {1}",
    operator.truediv: "without dividing {0} by {1}",
}
EXCHANGED = {
    operator.sub: "with {1} minus {0} instead of {0} minus {1}",
    operator.truediv: "with {1} divided by {0} instead of {0} divided by {1}",
}
FUNCTIONS = {  # functions of one tensor that a step may be recognised as
    "the tanh": torch.tanh,
    "the sigmoid": torch.sigmoid,
    "the softmax": lambda t: t.softmax(-1),
    "the log-softmax": lambda t: t.log_softmax(-1),
    "the ReLU": torch.relu,
    "the exponential": torch.exp,
    "the logarithm": torch.log,
    "the square root": torch.sqrt,
    "the square": torch.square,
    "the sine": torch.sin,
    "the cosine": torch.cos,
}


ACTIVATIONS = {"the sigmoid of {}", "the tanh of {}"}  # mistaken for each other
REDUCTIONS = ("the sum of", "the mean of")


OF_A_STEP_RESULT = {
    "with {} doubled": lambda t: 2 * t,
    "with {} halved": lambda t: t / 2,
    "with the sign of {} flipped": torch.neg,
    "with zeros instead of {}": torch.zeros_like,
    "with ones instead of {}": torch.ones_like,
}


@dataclass(frozen=True)
class StepChange:
    """A change of one step: function(operation, operands) returns its new result.

    `text` completes "what the right computation gives …"; a step is named by its words. `of_result`: only the step's result is changed.
    `often`: learners make it often, so it may be named as one of two mistakes.
    """

    text: str
    step: str
    function: Callable
    of_result: bool = False
    often: bool = False


class Names:
    """What tensors in a computation are called: an argument by its name, transposed or not, a step's result by the step's words."""

    def __init__(self, task: Task, args: tuple) -> None:
        self._names = {}
        for name, arg in zip(task.names, args, strict=False):
            self.add(name, arg)

    def add(self, name: str, value: object) -> None:
        if isinstance(value, torch.Tensor):
            self._names[self._key(value)] = name

    def name_of(self, value: object) -> str:
        """Return its name; "" where it has none."""
        return self._names.get(self._key(value), "") if isinstance(value, torch.Tensor) else ""

    @staticmethod
    def _key(tensor):
        return tensor.untyped_storage().data_ptr(), tensor.numel()


def of_steps(task: Task, args: tuple, discrete: bool = False) -> Iterator[StepChange]:
    """Yield each change of a step that can be said in a few words, which excludes operands without a name. `discrete`: see `of_arguments`."""
    met, names = {}, Names(task, args)
    for text, operation, operands, value in trace_steps(task.steps_function, args):
        if text not in met:  # a step in a loop recurs, and is changed each time
            met[text] = operation, operands, [names.name_of(operand) for operand in operands], value
            names.add(text, value)
    sizes = sizes_of(task, args)
    for text, (operation, operands, called, value) in met.items():
        changes = _of_a_step(text, operation, operands, called, value, task.names, args, sizes, discrete)
        for change in filter(lambda change: is_readable(change.text), changes):
            yield StepChange(change.text, text, change.function, often=change.often)
        if isinstance(value, torch.Tensor):
            changes = _of_a_step_result(task, sizes, text, value, discrete)
            yield from (change for change in changes if is_readable(change.text))
        elif is_number(value):
            for letter in sizes:
                for power, root in ((1, ""), (0.5, "√")):
                    yield StepChange(f"with {root}{letter} instead of {text}", text, SizeInstead(task, letter, power))


def _shape_letters(tensor, sizes):
    """Return a shape in the letters of the task's arguments, as far as the lengths show them: "B×T×?"."""
    axes = [(letter, size) for letter, size in sizes.items() if letter.isupper()]
    by_length = [[letter for letter, size in axes if size == length] for length in tensor.shape]
    return "×".join(letters[0] if len(letters) == 1 else "?" for letters in by_length)


def _of_a_step_result(task, sizes, step, value, discrete):
    if is_float(value) and not discrete:
        for words, function in OF_A_STEP_RESULT.items():
            yield StepChange(words.format(step), step, lambda o, x, f=function: f(o(*x)), of_result=True)
        for letter in sizes:
            for power, root in ((1, ""), (0.5, "√")):
                text = f"with {step} divided by {root}{letter}"
                yield StepChange(text, step, Divided(task, letter, power), of_result=True)
    elif not value.dim() and not discrete:
        yield StepChange(f"with 1 instead of {step}", step, lambda o, x: torch.ones_like(o(*x)), of_result=True)
    if discrete and is_float(value):
        return
    for change in of_tensors(_shape_letters(value, sizes), value):
        if change.instead and value.dtype != torch.bool:
            continue  # is among those above
        yield StepChange(
            _words_for_replacement(change, step, step), step, lambda o, x, f=change.function: f(o(*x)), of_result=True
        )


def _words_for_replacement(change, name, step):
    """Return the words for a change of what is called `name`, which replaces a step."""
    if name == step and change.text.startswith("{} with "):
        return f"{change.text.removeprefix('{} ')} in {step}"
    itself = name == step and (change.instead or change.text.startswith("{} "))
    return f"with {change.text.format(name)}" + ("" if itself else f" instead of {step}")


def _of_a_step(text, operation, operands, called, value, names, args, sizes, discrete):
    """Yield each Change, whose function takes (operation, operands), of a step's operands or its operation."""
    operation = SAME.get(operation, operation)
    if len(operands) == 2:
        for place, name in enumerate(called):  # first: dividing is left out more often than replaced by adding
            alone, known = lambda o, ab, p=place: ab[p], operation in WITHOUT_THE_RIGHT
            if known and all(called) and (place == 0 or operation in (operator.add, operator.mul)):
                left, right = (called[0], called[1]) if place == 0 else (called[1], called[0])
                yield Change(WITHOUT_THE_RIGHT[operation].format(left, right), alone, often=True)
            elif name and place == 0 and operation is operator.truediv:  # by a number
                yield Change(f"without dividing {name}", alone, often=True)
            elif name:
                yield Change(f"with {name} instead of {text}", alone, often=known)
        for row in OPERATIONS:
            for other, words in row.items():
                if operation in row and other is not operation:
                    phrase = f"with {words} instead of {row[operation]} in {text}"
                    yield Change(phrase, lambda o, ab, f=other: f(*ab), often={operation, other} in OFTEN)
        if all(called):
            phrase = EXCHANGED.get(operation, f"with {called[1]} on the left and {called[0]} on the right in {text}")
            yield Change(phrase.format(*called), lambda o, ab: o(*ab[::-1]), often=operation in OPERATIONS[0])
        for place, name in enumerate(called):
            if not name:
                continue
            for change in of_one(name, _shape_letters(operands[place], sizes), operands[place], discrete):
                of_all = lambda o, ab, p=place, f=change.function: o(*with_one(tuple(ab), p, f))  # noqa: E731
                yield change._replace(text=f"{change.text}, in {text}", function=of_all)
            for other, arg in zip(names, args, strict=False):
                if isinstance(arg, torch.Tensor) and other != name:
                    phrase = f"with {other} instead of {name} in {text}"
                    yield Change(phrase, ArgumentInstead(place, names.index(other)))
    elif called[0]:
        without = _words_without_step(text, called[0], operands[0], value)
        yield Change(without or f"with {called[0]} instead of {text}", lambda o, a: a[0], often=bool(without))
        if discrete and is_float(operands[0]):
            return
        reduces = isinstance(value, torch.Tensor) and value.shape != operands[0].shape
        for change in of_tensors(_shape_letters(operands[0], sizes), operands[0]):
            if change.instead or change.text.startswith("{} with "):
                continue  # is a change of the result, or cannot be said of an operand
            of_all = lambda o, a, f=change.function: f(a[0])  # noqa: E731
            often = bool(without) if change.text in ACTIVATIONS else reduces and change.text.startswith(REDUCTIONS)
            yield change._replace(text=_words_for_replacement(change, called[0], text), function=of_all, often=often)


def _words_without_step(step, name, operand, value):
    """Return the words for a step that is left out, by what it does to its operand; "" if that is unknown."""
    if not isinstance(operand, torch.Tensor) or not isinstance(value, torch.Tensor) or not operand.numel():
        return ""
    if operand.dim() > 1 and value.shape == operand.mT.shape and torch.equal(value, operand.mT):
        return f"without transposing {name}"
    if value.shape != operand.shape or value.dtype != operand.dtype or not is_float(operand):
        return ""
    for words, function in FUNCTIONS.items():
        if torch.allclose(function(operand), value, equal_nan=True):
            return f"without {step}" if words.split()[-1] in step else f"without {words} that gives {step}"
    return ""


class NeedsArguments:
    """A change of a step that needs the arguments; `args` is set before each walk."""

    args = None


class SizeInstead(NeedsArguments):
    """Replaces a number with a power of the length of an axis or of a number among the arguments."""

    def __init__(self, task: Task, letter: str, power: float) -> None:
        self.task, self.letter, self.power = task, letter, power

    def __call__(self, operation: Callable, operands: Sequence) -> float | torch.Tensor:
        return sizes_of(self.task, self.args)[self.letter] ** self.power


class Divided(SizeInstead):
    """Divides a step's result by such a power."""

    def __call__(self, operation: Callable, operands: Sequence) -> torch.Tensor:
        return operation(*operands) / super().__call__(operation, operands)


class ArgumentInstead(NeedsArguments):
    """Replaces an operand with an argument."""

    def __init__(self, place: int, argument: int) -> None:
        self.place, self.argument = place, argument

    def __call__(self, operation: Callable, operands: Sequence) -> object:
        return operation(*with_one(tuple(operands), self.place, lambda _: self.args[self.argument]))
