"""Changes of what goes in: of one argument, of two that are exchanged, and divided by the length of an axis."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations, permutations

import torch

from course_utils.checks.relations.change import Change, can_be_said
from course_utils.checks.relations.factors import sizes_of
from course_utils.checks.relations.results import axis_names, is_number
from course_utils.checks.running.contract import is_float

OF_NUMBERS = {
    "with {} set to zeros": torch.zeros_like,
    "with {} set to ones": torch.ones_like,
    "with a minus sign in front of {}": torch.neg,
    "with {} doubled": lambda t: 2 * t,
    "with {} halved": lambda t: t / 2,
    "with every minus sign in {} dropped": torch.abs,
    "with {} squared": torch.square,
    "with 1 divided by {0} in place of {0}": torch.reciprocal,
    "with 1 minus {0} in place of {0}": lambda t: 1 - t,
    "with the exponential of {0} in place of {0}": torch.exp,
    "with the sigmoid of {0} in place of {0}": torch.sigmoid,
    "with the hyperbolic tangent of {0} in place of {0}": torch.tanh,
    "with zeros in place of the negative numbers in {}": torch.relu,
}


OFTEN = {"with {} set to zeros", "with zeros in place of the negative numbers in {}"}


OF_AXES = {
    "with {} in reverse order along {}": lambda t, a: t.flip(a),
    "with {} moved forward by one place along {}": lambda t, a: t.roll(1, a),
    "with {} moved back by one place along {}": lambda t, a: t.roll(-1, a),
    "with each number of {} replaced by the first entry along {}": lambda t, a: t.narrow(a, 0, 1).expand_as(t).clone(),
    "with each number of {} replaced by the last entry along {}": lambda t, a: t.narrow(a, -1, 1).expand_as(t).clone(),
}


OF_AXES_OF_NUMBERS = {
    "with each number of {} replaced by the mean over {}": lambda t, a: t.mean(a, keepdim=True).expand_as(t).clone(),
    "with each number of {} replaced by the sum over {}": lambda t, a: t.sum(a, keepdim=True).expand_as(t).clone(),
    "with {} passed through a softmax along {}": lambda t, a: t.softmax(a),
    "with {} scaled to length 1 along {}": lambda t, a: t / t.norm(dim=a, keepdim=True).clamp(min=1e-12),
}


OF_A_NUMBER = {
    "with 0 in place of {}": lambda x: 0 * x,
    "with 1 in place of {}": lambda x: x**0,
    "with 1 divided by {0} in place of {0}": lambda x: 1 / x,
    "with {} squared": lambda x: x * x,
    "with the square root of {0} in place of {0}": lambda x: x**0.5,
    "with {} doubled": lambda x: 2 * x,
    "with {} halved": lambda x: x / 2,
    "with a minus sign in front of {}": lambda x: -x,
    "with 1 added to {}": lambda x: x + 1,
    "with 1 subtracted from {}": lambda x: x - 1,
}


OF_A_LIST = {
    "with {} in reverse order": lambda x: x[::-1],
    "with the last entry of {} left out": lambda x: x[:-1],
    "with the first entry of {} left out": lambda x: x[1:],
    "with only the first entry of {}": lambda x: x[:1],
    "with {} empty": lambda x: x[:0],
    "with each entry of {} in reverse order": lambda x: [entry[::-1] for entry in x],
    "with the last element of each entry of {} left out": lambda x: [entry[:-1] for entry in x],
    "with the first element of each entry of {} left out": lambda x: [entry[1:] for entry in x],
    "with repeats dropped from each entry of {}": lambda x: [list(dict.fromkeys(entry)) for entry in x],
}


def of_arguments(task, args: tuple) -> Iterator[Change]:
    """Give each Change of arguments like these; an argument that is None in a case stays so.

    Its text completes "this is what comes out …"; its function takes args and returns new ones, or raises where it does not fit.
    """
    for place, arg in enumerate(args):
        name, _, letters = task.arguments[place].partition(" ")
        for change in filter(lambda change: can_be_said(change.text), of_one(name, letters, arg)):
            of_all = lambda args, place=place, function=change.function: with_one(args, place, function)  # noqa: E731
            yield change._replace(function=of_all)
        if is_float(arg):
            for letter in sizes_of(task, args):
                for power, root in ((1, ""), (0.5, "√")):
                    text = f"with {name} divided by {root}{letter} before anything else"
                    yield Change(text, partial(_divided, task, place, letter, power))
    for (i, a), (j, b) in permutations(enumerate(args), 2):
        if type(a) is not type(b) or isinstance(a, torch.Tensor) and a.dtype != b.dtype:
            continue
        text = f"with {task.names[i]} in place of {task.names[j]}"
        yield Change(text, lambda args, i=i, j=j: with_one(args, j, lambda _, other=args[i]: _copied(other)))
        if i < j:
            text = f"with {task.names[i]} and {task.names[j]} exchanged"
            yield Change(text, lambda args, i=i, j=j: _exchanged(args, i, j))


def of_one(name: str, letters: str, arg) -> Iterator[Change]:
    """Give each Change of one value, called by its name, its shape written with letters."""
    if isinstance(arg, torch.Tensor):
        yield from _of_a_tensor(name, letters, arg)
    elif is_number(arg):
        yield from (Change(text.format(name), function) for text, function in OF_A_NUMBER.items())
    elif isinstance(arg, list):
        yield from (Change(text.format(name), function) for text, function in OF_A_LIST.items())


def _of_a_tensor(name, letters, arg):
    axes, names = arg.dim(), axis_names(letters, arg.dim())
    if arg.dtype == torch.bool:
        yield Change(f"with {name} left out (True everywhere)", torch.ones_like)
        yield Change(f"with {name} False everywhere", torch.zeros_like)
        yield Change(f"with True and False exchanged in {name}", torch.logical_not, often=True)
    if is_float(arg):
        for text, function in OF_NUMBERS.items():
            yield Change(text.format(name), function, often=text in OFTEN)
    for a in range(axes):
        for text, function in {**OF_AXES, **(OF_AXES_OF_NUMBERS if is_float(arg) else {})}.items():
            yield Change(text.format(name, names[a]), lambda t, a=a - axes, function=function: function(t, a))
    for a, b in combinations(range(axes), 2):
        exchange = lambda t, i=a - axes, j=b - axes: t.transpose(i, j)  # noqa: E731
        yield Change(f"with {names[a]} and {names[b]} of {name} exchanged", exchange, often=True)


def _divided(task, place, letter, power, args):
    return with_one(args, place, lambda t: t / sizes_of(task, args)[letter] ** power)


def with_one(args, place, function):
    if place >= len(args) or args[place] is None:
        return args
    return (*args[:place], function(args[place]), *args[place + 1 :])


def _exchanged(args, i, j):
    exchanged = list(args)
    exchanged[i], exchanged[j] = args[j], args[i]
    return tuple(exchanged)


def _copied(arg):
    return arg.clone() if isinstance(arg, torch.Tensor) else arg
