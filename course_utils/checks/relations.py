"""The ways in which a wrong result may hang together with the right one: a catalogue of changes, each told in words.

`of_results` changes what comes out: axes exchanged, a softmax too many, cumulated. `of_arguments` changes what goes in: two arguments
exchanged, a mask left out, one transposed. `of_steps` changes one step on the way. `formulas` tells which numbers a result may be
multiplied by. Not here: which of them an answer shows, which is `explain`'s to find.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations, product
from math import isclose

import torch

from course_utils.checks.running.contract import is_float


def truth_values(t):
    """Return a tensor of truth values as it is; of numbers, nobody says that True and False were exchanged."""
    if t.dtype != torch.bool:
        raise TypeError("these are numbers")
    return t


def numbers_of(t):
    """Return a tensor of numbers as it is; of truth values, nobody says that the maximum was taken."""
    if t.dtype == torch.bool:
        raise TypeError("these are truth values")
    return t


ELEMENTWISE = {
    "zeros in place of {}": torch.zeros_like,
    "ones in place of {}": torch.ones_like,
    "{} with True and False exchanged": lambda t: truth_values(t).logical_not(),
    "the exponential of {}": torch.exp,
    "the logarithm of {}": torch.log,
    "the sigmoid of {}": torch.sigmoid,
    "the hyperbolic tangent of {}": torch.tanh,
    "{} before the sigmoid": torch.logit,
    "{} before the hyperbolic tangent": torch.atanh,
    "{} with every negative number set to 0": torch.relu,
    "the absolute value of {}": torch.abs,
    "the square of {}": torch.square,
    "the square root of {}": torch.sqrt,
    "1 divided by {}": torch.reciprocal,
    "1 minus {}": lambda t: 1 - t,
    "only the signs of {}": torch.sign,
    "{} rounded to whole numbers": torch.round,
    "{} rounded to one decimal place": lambda t: t.round(decimals=1),
    "{} rounded to two decimal places": lambda t: t.round(decimals=2),
    "{} rounded to three decimal places": lambda t: t.round(decimals=3),
    "the arc cosine of {}": torch.acos,
    "{} turned into True above 0 and False elsewhere": lambda t: t > 0,
    "{} turned into True above ½ and False elsewhere": lambda t: t > 0.5,
}
ALONG = {  # an axis
    "the softmax of {} along {}": lambda t, a: t.softmax(a),
    "the logarithm of the softmax of {} along {}": lambda t, a: t.log_softmax(a),
    "1 at the largest number of {} along {} and 0 elsewhere": lambda t, a: _at_the_largest(t, a),
    "{} scaled to sum to 1 along {}": lambda t, a: t / t.sum(a, keepdim=True),
    "{} scaled to length 1 along {}": lambda t, a: t / t.norm(dim=a, keepdim=True),
    "{} divided by the largest number along {}": lambda t, a: t / t.amax(a, keepdim=True),
    "{} with the mean along {} subtracted": lambda t, a: t - t.mean(a, keepdim=True),
    "{} with the largest number along {} subtracted": lambda t, a: t - t.amax(a, keepdim=True),
    "the running sum of {} along {}": lambda t, a: t.cumsum(a),
    "{} in reverse order along {}": lambda t, a: t.flip(a),
    "{} moved forward by one place along {}": lambda t, a: t.roll(1, a),
    "{} moved back by one place along {}": lambda t, a: t.roll(-1, a),
    "the sum of {} over {}": lambda t, a: t.sum(a),
    "the mean of {} over {}": lambda t, a: t.mean(a),
    "the maximum of {} over {}": lambda t, a: numbers_of(t).amax(a),
    "the sum of {} over {} with that axis kept at size 1": lambda t, a: t.sum(a, keepdim=True),
    "the mean of {} over {} with that axis kept at size 1": lambda t, a: t.mean(a, keepdim=True),
    "the sum of {} over {} repeated all the way along that axis": lambda t, a: t.sum(a, keepdim=True).expand_as(t),
    "the mean of {} over {} repeated all the way along that axis": lambda t, a: t.mean(a, keepdim=True).expand_as(t),
    "the first entry of {} along {} with that axis dropped": lambda t, a: t.select(a, 0),
    "the last entry of {} along {} with that axis dropped": lambda t, a: t.select(a, -1),
    "only the first entry of {} along {}": lambda t, a: t.narrow(a, 0, 1),
    "the first entry of {} repeated all the way along {}": lambda t, a: t.narrow(a, 0, 1).expand_as(t),
}


def _at_the_largest(t, a):
    return torch.zeros_like(numbers_of(t)).scatter(a, t.argmax(a, keepdim=True), 1)


def axis_names(letters: str, axes: int) -> list[str]:
    """Return how to speak of each axis of a tensor whose shape is written with these letters, such as B×T×S or …×S.

    An axis goes by its letter; one that has none of its own, as both have in size×size, by its number.
    """
    parts = letters.split("×") if letters else []
    if "…" in parts:
        known = parts[parts.index("…") + 1 :]
        parts = ["…"] * (axes - len(known)) + known
    if len(parts) != axes:
        parts = ["…"] * axes
    own = [part.isupper() and parts.count(part) == 1 for part in parts]
    return [f"axis {part if its_own else a}" for a, (part, its_own) in enumerate(zip(parts, own, strict=True))]


def of_results(letters: str, axes: int, names: list[str], args: tuple) -> Iterator[tuple[str, Callable]]:
    """Give (text, function(result, case)) for each change of a result with so many axes, its shape written with these letters.

    `text` completes "yours is …", with {} for the result. An argument may be mixed in: those of a case are `args`, by `names`.
    """
    for text, function in _of_tensors(letters, axes):
        yield text, lambda t, case, function=function: function(t)
    for place, (name, arg) in enumerate(zip(names, args, strict=False)):
        if isinstance(arg, torch.Tensor) or _is_number(arg):
            for text, function in MIXED.items():
                yield (
                    text.format("{}", name),
                    lambda t, case, place=place, function=function: function(t, _tensor(case.args[place])),
                )


MIXED = {
    "{1} unchanged, not {0}": lambda t, x: x,
    "{0} plus {1}": lambda t, x: t + x,
    "{0} minus {1}": lambda t, x: t - x,
    "{1} minus {0}": lambda t, x: x - t,
    "{0} times {1}": lambda t, x: t * x,
    "{0} divided by {1}": lambda t, x: t / x,
    "{0} times {1}, which is spread along the last axis": lambda t, x: t * x[..., None],
    "{0} divided by {1}, which is spread along the last axis": lambda t, x: t / x[..., None],
    "{0} plus {1}, which is spread along the last axis": lambda t, x: t + x[..., None],
}


def _of_tensors(letters, axes):
    """Give (text, function(result)) for the changes that need the result alone."""
    names = axis_names(letters, axes)
    yield from ELEMENTWISE.items()
    for a in range(axes):
        for text, function in ALONG.items():
            yield text.format("{}", names[a]), lambda t, a=a - axes, function=function: function(t, a)
    for a, b in combinations(range(axes), 2):
        both, i, j = f"{names[a]} and {names[b]}", a - axes, b - axes
        yield f"{{}} with {both} exchanged", lambda t, i=i, j=j: t.transpose(i, j)
        yield (
            f"{{}} with the numbers laid out as if {both} were exchanged, but in the old shape",
            lambda t, i=i, j=j: t.transpose(i, j).reshape(t.shape),
        )
        if b == a + 1:
            yield (
                f"the softmax of {{}} over {both} together",
                lambda t, a=a: t.flatten(a, a + 1).softmax(a).reshape(t.shape),
            )
    if axes == 3:
        yield "{} with the axes in the order 1, 2, 0", lambda t: t.permute(1, 2, 0)
        yield "{} with the axes in the order 2, 0, 1", lambda t: t.permute(2, 0, 1)
    for a in range(axes + 1):
        where = "at the end" if a == axes else f"in front of {names[a]}"
        yield f"{{}} with an extra axis of size 1 {where}", lambda t, a=a: t.unsqueeze(a)
    if axes > 1:
        yield "{} with all axes flattened into one", torch.flatten
        yield "{} with the first two axes flattened into one", lambda t: t.flatten(0, 1)
        yield "{} with the last two axes flattened into one", lambda t: t.flatten(-2)


def _tensor(x):
    return x.double() if isinstance(x, torch.Tensor) else torch.tensor(float(x), dtype=torch.float64)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Arguments

OF_NUMBERS = {
    "with {} set to zeros": torch.zeros_like,
    "with {} set to ones": torch.ones_like,
    "with the sign of {} flipped": torch.neg,
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
OF_AXES = {
    "with {} in reverse order along {}": lambda t, a: t.flip(a),
    "with {} moved forward by one place along {}": lambda t, a: t.roll(1, a),
    "with {} moved back by one place along {}": lambda t, a: t.roll(-1, a),
    "with the first entry of {} repeated all the way along {}": lambda t, a: t.narrow(a, 0, 1).expand_as(t).clone(),
    "with the last entry of {} repeated all the way along {}": lambda t, a: t.narrow(a, -1, 1).expand_as(t).clone(),
}
OF_AXES_OF_NUMBERS = {
    "with the mean of {} repeated all the way along {}": lambda t, a: t.mean(a, keepdim=True).expand_as(t).clone(),
    "with the sum of {} repeated all the way along {}": lambda t, a: t.sum(a, keepdim=True).expand_as(t).clone(),
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
    "with the sign of {} flipped": lambda x: -x,
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


def of_arguments(task, args: tuple) -> Iterator[tuple[str, Callable]]:
    """Give (text, function) for each change of arguments like these; an argument that is None in a case stays so.

    `text` completes "you return what the right computation would give …"; the function takes args and returns new ones, or raises where it does not fit.
    """
    for place, arg in enumerate(args):
        name, _, letters = task.arguments[place].partition(" ")
        for text, function in of_one(name, letters, arg):
            yield (text, lambda args, place=place, function=function: _with(args, place, function))
        if is_float(arg):
            for letter in sizes_of(task, args):
                yield (
                    f"if {name} were divided by {letter} before anything else",
                    partial(_divided, task, place, letter, 1),
                )
                yield (
                    f"if {name} were divided by √{letter} before anything else",
                    partial(_divided, task, place, letter, 0.5),
                )
    for (i, a), (j, b) in permutations(enumerate(args), 2):
        if type(a) is not type(b) or isinstance(a, torch.Tensor) and a.dtype != b.dtype:
            continue
        text = f"with {task.names[i]} in place of {task.names[j]}"
        yield (text, lambda args, i=i, j=j: _with(args, j, lambda _, other=args[i]: _copied(other)))
        if i < j:
            text = f"with {task.names[i]} and {task.names[j]} exchanged"
            yield (text, lambda args, i=i, j=j: _exchanged(args, i, j))


def of_one(name: str, letters: str, arg) -> Iterator[tuple[str, Callable]]:
    """Give (text, function) for each change of one value, called by its name, its shape written with letters."""
    if isinstance(arg, torch.Tensor):
        yield from _of_a_tensor(name, letters, arg)
    elif _is_number(arg):
        yield from ((text.format(name), function) for text, function in OF_A_NUMBER.items())
    elif isinstance(arg, list):
        yield from ((text.format(name), function) for text, function in OF_A_LIST.items())


def _of_a_tensor(name, letters, arg):
    axes, names = arg.dim(), axis_names(letters, arg.dim())
    if arg.dtype == torch.bool:
        yield f"with {name} left out (True everywhere)", torch.ones_like
        yield f"with {name} False everywhere", torch.zeros_like
        yield f"with True and False exchanged in {name}", torch.logical_not
    if is_float(arg):
        for text, function in OF_NUMBERS.items():
            yield text.format(name), function
    for a in range(axes):
        for text, function in {**OF_AXES, **(OF_AXES_OF_NUMBERS if is_float(arg) else {})}.items():
            yield text.format(name, names[a]), lambda t, a=a - axes, function=function: function(t, a)
    for a, b in combinations(range(axes), 2):
        exchange = lambda t, i=a - axes, j=b - axes: t.transpose(i, j)  # noqa: E731
        yield f"with {names[a]} and {names[b]} of {name} exchanged", exchange


def _divided(task, place, letter, power, args):
    return _with(args, place, lambda t: t / sizes_of(task, args)[letter] ** power)


def _with(args, place, function):
    if place >= len(args) or args[place] is None:
        return args
    return (*args[:place], function(args[place]), *args[place + 1 :])


def _exchanged(args, i, j):
    exchanged = list(args)
    exchanged[i], exchanged[j] = args[j], args[i]
    return tuple(exchanged)


def _copied(arg):
    return arg.clone() if isinstance(arg, torch.Tensor) else arg


# Steps

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
    for text in texts:
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
    for words, function in _of_tensors("", value.dim()):
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
                yield words, lambda o, ab, p=place, f=function: o(*_with(tuple(ab), p, f)), common
            for name, arg in zip(names, args, strict=False):
                if isinstance(arg, torch.Tensor):
                    i = names.index(name)
                    yield f"if {name} itself stood on {where}", ArgumentInstead(place, i), False
    elif _is_number(operands[0]):
        for words, function in of_one(f"the number that goes into {text}", "", operands[0]):
            yield words, lambda o, a, f=function: o(f(a[0])), False
    elif isinstance(operands[0], torch.Tensor):
        yield f"with the step that gives {text} left out", lambda o, a: a[0], True
        for words, function in _of_tensors("", operands[0].dim()):
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
        return operation(*_with(tuple(operands), self.place, lambda _: self.args[self.argument]))


# Factors


def sizes_of(task, args: tuple) -> dict[str, float]:
    """Return the lengths of axes by their letters, and the numbers among the arguments by their names."""
    found = {}
    for name, argument, arg in zip(task.names, task.arguments, args, strict=False):
        parts = argument.partition(" ")[2].split("×")
        if isinstance(arg, torch.Tensor):
            lengths = arg.shape[-(len(parts) - 1) :] if parts[0] == "…" and len(parts) > 1 else arg.shape
            parts = parts[1:] if parts[0] == "…" else parts
            found |= {part: n for part, n in zip(parts, lengths, strict=False) if part.isalpha()}
        elif _is_number(arg):
            found[name] = arg
    return found


POWERS = {1: "{0}", 0.5: "√{0}", 2: "{0}²", 1.5: "{0}·√{0}"}
TIMES = {1: "", -1: "-", 2: "2·", 0.5: "0.5·"}


def formulas(sizes: list[dict[str, float]], numbers: list[float]) -> list[tuple[str, str, Callable]]:
    """Return (formula, letter, function of sizes) for every formula of one size that gives these numbers, one for each case."""
    found = []
    for letter, (power, text), times in product(sorted(set.intersection(*map(set, sizes))), POWERS.items(), TIMES):
        name = text.format(letter)
        below = f"{times:g}/({name})" if "·" in name else f"{times:g}/{name}"
        for exponent, formula in ((power, TIMES[times] + name), (-power, below)):
            of = partial(_formula, letter, exponent, times)
            try:
                if all(isclose(of(s), number, rel_tol=1e-4) for s, number in zip(sizes, numbers, strict=True)):
                    found.append((formula, letter, of))
            except (TypeError, ZeroDivisionError, OverflowError):  # a root of a negative number, 1 / 0
                continue
    return found


def _formula(letter, exponent, times, sizes):
    return times * sizes[letter] ** exponent
