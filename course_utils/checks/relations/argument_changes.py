"""Changes of the arguments: one changed, two exchanged, or one divided by the length of an axis."""

from collections.abc import Callable, Iterator
from functools import partial
from inspect import signature
from itertools import combinations, permutations

import torch

from course_utils.checks.relations.change import FRACTIONS, NUMBERS, REAL, TRUTH, Change, is_readable, kind_of
from course_utils.checks.relations.factors import sizes_of
from course_utils.checks.relations.result_changes import axis_names, is_number
from course_utils.checks.running.contract import is_float
from course_utils.checks.task import Task

OF_NUMBERS = {  # text: function, the kinds of numbers for which it makes sense
    "with zeros instead of {}": (torch.zeros_like, NUMBERS),
    "with ones instead of {}": (torch.ones_like, NUMBERS),
    "with the sign of {} flipped": (torch.neg, NUMBERS),
    "with {} doubled": (lambda t: 2 * t, FRACTIONS),
    "with {} halved": (lambda t: t / 2, FRACTIONS),
    "with the absolute value of {}": (torch.abs, {REAL}),
    "with {} squared": (torch.square, FRACTIONS),
    "with 1 divided by {0} instead of {0}": (torch.reciprocal, NUMBERS),
    "with 1 minus {0} instead of {0}": (lambda t: 1 - t, NUMBERS),
    "with the exponential of {0} instead of {0}": (torch.exp, FRACTIONS),
    "with the sigmoid of {0} instead of {0}": (torch.sigmoid, FRACTIONS),
    "with the tanh of {0} instead of {0}": (torch.tanh, FRACTIONS),
}


OF_ANY_RESULT = {"with zeros instead of {}", "with ones instead of {}", "with the sign of {} flipped"}


OF_AXES = {
    "with {} in reverse order along {}": lambda t, a: t.flip(a),
    "with {} shifted forward by one position along {}": lambda t, a: t.roll(1, a),
    "with {} shifted back by one position along {}": lambda t, a: t.roll(-1, a),
    "with the first slice of {} along {} used throughout": lambda t, a: t.narrow(a, 0, 1).expand_as(t).clone(),
}


OF_AXES_OF_NUMBERS = {
    "with the mean of {0} over {1} instead of {0}": lambda t, a: t.mean(a, keepdim=True).expand_as(t).clone(),
    "with the sum of {0} over {1} instead of {0}": lambda t, a: t.sum(a, keepdim=True).expand_as(t).clone(),
    "with a softmax of {} along {}": lambda t, a: t.softmax(a),
    "with {} normalised to length 1 along {}": lambda t, a: t / t.norm(dim=a, keepdim=True).clamp(min=1e-12),
}


OF_A_NUMBER = {
    "with 0 instead of {}": lambda x: 0 * x,
    "with 1 instead of {}": lambda x: x**0,
    "with 1 divided by {0} instead of {0}": lambda x: 1 / x,
    "with {} squared": lambda x: x * x,
    "with the square root of {0} instead of {0}": lambda x: x**0.5,
    "with {} doubled": lambda x: 2 * x,
    "with {} halved": lambda x: x / 2,
    "with the sign of {} flipped": lambda x: -x,
    "with {0} + 1 instead of {0}": lambda x: x + 1,
    "with {0} - 1 instead of {0}": lambda x: x - 1,
}
# An option such as a temperature may be unused, or multiplied by instead of divided by; a minimum may be read as exclusive.
OF_AN_OPTION = {"with 1 instead of {}", "with 1 divided by {0} instead of {0}", "with {0} + 1 instead of {0}"}


OF_A_LIST = {
    "with {} in reverse order": lambda x: x[::-1],
    "without the last entry of {}": lambda x: x[:-1],
}


def of_arguments(task: Task, args: tuple, discrete: bool = False) -> Iterator[Change]:
    """Yield each Change of arguments like these; one that is None in a case stays None.

    Its text completes "what the right computation gives …"; its function takes args and returns new ones, or raises if it does not fit.
    `discrete`: the results are truth values or whole numbers, which stay the same under many changes of numbers, so these are left out.
    """
    parameters = list(signature(task.oracle_function).parameters.values())
    for place, arg in enumerate(args):
        name, _, letters = task.arguments[place].partition(" ")
        optional = not is_number(arg) or is_number(parameters[place].default)
        for change in filter(lambda change: is_readable(change.text), of_one(name, letters, arg, discrete)):
            of_all = lambda args, place=place, function=change.function: with_one(args, place, function)  # noqa: E731
            yield change._replace(function=of_all, often=change.often and optional)
        if is_float(arg) and not discrete:
            for letter in sizes_of(task, args):
                for power, root in ((1, ""), (0.5, "√")):
                    text = f"with {name} divided by {root}{letter}"
                    yield Change(text, partial(_with_one_divided, task, place, letter, power), letters.endswith(letter))
    for (i, a), (j, b) in permutations(enumerate(args), 2):
        if type(a) is not type(b) or isinstance(a, torch.Tensor) and a.dtype != b.dtype:
            continue
        tensors = isinstance(a, torch.Tensor)  # nobody exchanges two sizes on top of another mistake
        text = f"with {task.names[i]} instead of {task.names[j]}"
        yield Change(text, lambda args, i=i, j=j: with_one(args, j, lambda _, other=args[i]: _copy(other)), tensors)
        if i < j:
            text = f"with {task.names[i]} and {task.names[j]} swapped"
            yield Change(text, lambda args, i=i, j=j: _with_two_exchanged(args, i, j), tensors)


def of_one(name: str, letters: str, arg: object, discrete: bool = False) -> Iterator[Change]:
    """Yield each Change of one value with this name and the letters of its shape; see `of_arguments`."""
    if isinstance(arg, torch.Tensor):
        yield from _of_a_tensor(name, letters, arg, discrete)
    elif is_number(arg):
        for text, function in OF_A_NUMBER.items():
            yield Change(text.format(name), function, text in OF_AN_OPTION)
    elif isinstance(arg, list):
        yield from (Change(text.format(name), function) for text, function in OF_A_LIST.items())


def _of_a_tensor(name, letters, arg, discrete):
    axes, names, kind = arg.dim(), axis_names(letters, arg.dim()), kind_of(arg)
    along = OF_AXES if kind not in FRACTIONS or discrete else {**OF_AXES, **OF_AXES_OF_NUMBERS}
    if kind == TRUTH:
        yield Change(f"with {name} all True", torch.ones_like, often=True)
        yield Change(f"with {name} all False", torch.zeros_like)
        yield Change(f"with True and False swapped in {name}", torch.logical_not, often=True)
    if is_float(arg):
        for text, (function, kinds) in OF_NUMBERS.items():
            if kind in kinds and (not discrete or text in OF_ANY_RESULT):
                yield Change(text.format(name), function)
    for a in range(axes):
        for text, function in along.items():
            often = "length 1" in text
            yield Change(text.format(name, names[a]), lambda t, a=a - axes, function=function: function(t, a), often)
    for a, b in combinations(range(axes), 2):
        exchange = lambda t, i=a - axes, j=b - axes: t.transpose(i, j)  # noqa: E731
        yield Change(f"with {names[a]} and {names[b]} of {name} swapped", exchange, often=a == axes - 2)


def _with_one_divided(task, place, letter, power, args):
    return with_one(args, place, lambda t: t / sizes_of(task, args)[letter] ** power)


def with_one(args: tuple, place: int, function: Callable) -> tuple:
    if place >= len(args) or args[place] is None:
        return args
    return (*args[:place], function(args[place]), *args[place + 1 :])


def _with_two_exchanged(args, i, j):
    exchanged = list(args)
    exchanged[i], exchanged[j] = args[j], args[i]
    return tuple(exchanged)


def _copy(arg):
    return arg.clone() if isinstance(arg, torch.Tensor) else arg
