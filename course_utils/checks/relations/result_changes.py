"""Changes of a result: number by number, along an axis, of several axes, and with an argument mixed in."""

from collections.abc import Iterator
from itertools import combinations
from typing import TypeGuard

import torch

from course_utils.checks.relations.change import (
    ANY,
    FRACTIONS,
    INFINITE,
    NUMBERS,
    POSITIVE,
    REAL,
    TRUTH,
    WHOLE,
    Change,
    kind_of,
)

WHERE_POSITIVE = "True where {} is above 0"  # nobody says so of a single number
ELEMENTWISE = {  # text: function, the kinds of numbers for which it makes sense
    "zeros instead of {}": (torch.zeros_like, NUMBERS),
    "ones instead of {}": (torch.ones_like, NUMBERS),
    "False everywhere instead of {}": (torch.zeros_like, {TRUTH}),
    "True everywhere instead of {}": (torch.ones_like, {TRUTH}),
    "{} with True and False swapped": (torch.logical_not, {TRUTH}),
    "the exponential of {}": (torch.exp, FRACTIONS),
    "the logarithm of {}": (torch.log, NUMBERS),
    "the sigmoid of {}": (torch.sigmoid, FRACTIONS),
    "the tanh of {}": (torch.tanh, FRACTIONS),
    "{} with every negative number set to 0": (torch.relu, {REAL}),
    "the absolute value of {}": (torch.abs, {REAL}),
    "the square of {}": (torch.square, NUMBERS),
    "the square root of {}": (torch.sqrt, NUMBERS),
    "1 divided by {}": (torch.reciprocal, NUMBERS),
    "1 minus {}": (lambda t: 1 - t, NUMBERS),
    WHERE_POSITIVE: (lambda t: t > 0, {REAL, WHOLE}),
}
OF_A_RESULT = {  # the last step left out, or one too many: earlier rounding fits by chance
    "{} before the sigmoid": (torch.logit, {POSITIVE}),
    "{} before the tanh": (torch.atanh, {REAL}),
    "{} rounded to whole numbers": (torch.round, FRACTIONS),
    "{} rounded to one decimal place": (lambda t: t.round(decimals=1), FRACTIONS),
    "{} rounded to two decimal places": (lambda t: t.round(decimals=2), FRACTIONS),
    "{} rounded to three decimal places": (lambda t: t.round(decimals=3), FRACTIONS),
}


ALONG = {  # an axis
    "the softmax of {} along {}": (lambda t, a: t.softmax(a), FRACTIONS | {INFINITE}),
    "the log-softmax of {} along {}": (lambda t, a: t.log_softmax(a), FRACTIONS | {INFINITE}),
    "a one-hot version of {}, with 1 at the largest entry along {}": (lambda t, a: _at_the_largest(t, a), NUMBERS),
    "{} normalised to sum to 1 along {}": (lambda t, a: t / t.sum(a, keepdim=True), NUMBERS),
    "{} normalised to length 1 along {}": (lambda t, a: t / t.norm(dim=a, keepdim=True), FRACTIONS),
    "{} divided by the maximum along {}": (lambda t, a: t / t.amax(a, keepdim=True), NUMBERS),
    "{} minus the mean along {}": (lambda t, a: t - t.mean(a, keepdim=True), FRACTIONS),
    "the running sum of {} along {}": (lambda t, a: t.cumsum(a), NUMBERS),
    "{} in reverse order along {}": (lambda t, a: t.flip(a), ANY),
    "{} shifted forward by one position along {}": (lambda t, a: t.roll(1, a), ANY),
    "{} shifted back by one position along {}": (lambda t, a: t.roll(-1, a), ANY),
    "the sum of {} over {}": (lambda t, a: t.sum(a), NUMBERS),
    "the mean of {} over {}": (lambda t, a: t.mean(a), NUMBERS),
    "the sum of {} over {}, with `keepdim=True`": (lambda t, a: t.sum(a, keepdim=True), NUMBERS),
    "the mean of {} over {}, with `keepdim=True`": (lambda t, a: t.mean(a, keepdim=True), NUMBERS),
    "the sum of {} over {}, repeated along it": (lambda t, a: t.sum(a, keepdim=True).expand_as(t), NUMBERS),
    "the mean of {} over {}, repeated along it": (lambda t, a: t.mean(a, keepdim=True).expand_as(t), NUMBERS),
    "the first slice of {} along {}": (lambda t, a: t.select(a, 0), ANY),
    "the last slice of {} along {}": (lambda t, a: t.select(a, -1), ANY),
    "the first slice of {} along {}, as an axis of size 1": (lambda t, a: t.narrow(a, 0, 1), ANY),
    "the first slice of {} along {}, repeated along it": (lambda t, a: t.narrow(a, 0, 1).expand_as(t), ANY),
}


OFTEN = {
    "the sigmoid of {}",
    "the tanh of {}",
    "the softmax of {} along {}",
    "the sum of {} over {}",
    "the mean of {} over {}",
    "the sum of {} over {}, with `keepdim=True`",
    "the mean of {} over {}, with `keepdim=True`",
}
INSTEAD = {text for text in ELEMENTWISE if "instead of" in text}


def _at_the_largest(t, a):
    return torch.zeros_like(t).scatter(a, t.argmax(a, keepdim=True), 1)


def axis_names(letters: str, axes: int) -> list[str]:
    """Return what to call each axis of a tensor whose shape is written with these letters, such as B×T×S or …×S.

    An axis is called by its letter or, if it has none of its own, as in size×size, by its number.
    """
    parts = letters.split("×") if letters else []
    if "…" in parts:
        known = parts[parts.index("…") + 1 :]
        parts = ["…"] * (axes - len(known)) + known
    if len(parts) != axes:
        parts = ["…"] * axes
    own = [part.isupper() and parts.count(part) == 1 for part in parts]
    return [f"axis {part if its_own else a}" for a, (part, its_own) in enumerate(zip(parts, own, strict=True))]


def of_results(letters: str, result: torch.Tensor, names: list[str], args: tuple) -> Iterator[Change]:
    """Yield each Change, whose function takes (result, case), of a result like this one, its shape written with these letters.

    `text` completes "you return …", with {} for the result. An argument may be mixed in: `args` are a case's, `names` their names.
    """
    last = (Change(text, function) for text, (function, kinds) in OF_A_RESULT.items() if kind_of(result) in kinds)
    for change in (*of_tensors(letters, result), *last):
        yield change._replace(function=lambda t, case, function=change.function: function(t))
    for place, (name, arg) in enumerate(zip(names, args, strict=False)):
        if isinstance(arg, torch.Tensor) or is_number(arg):
            for text, function in MIXED.items():
                if "[..., None]" in text and not isinstance(arg, torch.Tensor):
                    continue
                yield Change(
                    text.format("{}", name),
                    lambda t, case, place=place, function=function: function(t, _as_float64(case.args[place])),
                )


MIXED = {
    "{1} unchanged instead of {0}": lambda t, x: x,
    "{0} plus {1}": lambda t, x: t + x,
    "{0} minus {1}": lambda t, x: t - x,
    "{1} minus {0}": lambda t, x: x - t,
    "{0} times {1}": lambda t, x: t * x,
    "{0} divided by {1}": lambda t, x: t / x,
    "{0} times {1}[..., None]": lambda t, x: t * x[..., None],
    "{0} divided by {1}[..., None]": lambda t, x: t / x[..., None],
}


def of_tensors(letters: str, tensor: torch.Tensor) -> Iterator[Change]:
    """Yield each Change that needs only a tensor like this one and makes sense for its kind of numbers."""
    axes, kind = tensor.dim(), kind_of(tensor)
    names = axis_names(letters, axes)
    for text, (function, kinds) in ELEMENTWISE.items():
        if kind in kinds and (axes or text != WHERE_POSITIVE):
            yield Change(text, function, often=text in OFTEN, instead=text in INSTEAD)
    for a in range(axes):
        for text, (function, kinds) in ALONG.items():
            if kind in kinds:
                along = lambda t, a=a - axes, function=function: function(t, a)  # noqa: E731
                yield Change(text.format("{}", names[a]), along, text in OFTEN)
    for a, b in combinations(range(axes), 2):
        both, i, j = f"{names[a]} and {names[b]}", a - axes, b - axes
        yield Change(f"{{}} with {both} swapped", lambda t, i=i, j=j: t.transpose(i, j), often=True)
        yield Change(
            f"{{}} with {both} swapped and then reshaped to the shape before",
            lambda t, i=i, j=j: t.transpose(i, j).reshape(t.shape),
        )
        if b == a + 1 and kind in FRACTIONS:
            yield Change(
                f"the softmax of {{}} over {both} together",
                lambda t, a=a: t.flatten(a, a + 1).softmax(a).reshape(t.shape),
                often=True,
            )
    if axes == 3:
        yield Change("{} with the axes in the order 1, 2, 0", lambda t: t.permute(1, 2, 0))
        yield Change("{} with the axes in the order 2, 0, 1", lambda t: t.permute(2, 0, 1))
    for a in range(axes + 1):
        where = "at the end" if a == axes else f"in front of {names[a]}"
        yield Change(f"{{}} with an extra axis of size 1 {where}", lambda t, a=a: t.unsqueeze(a), often=True)
    if axes > 1:
        yield Change("{} flattened to a single axis", torch.flatten, often=True)
        yield Change("{} with the first two axes flattened into one", lambda t: t.flatten(0, 1), often=True)
        yield Change("{} with the last two axes flattened into one", lambda t: t.flatten(-2), often=True)


def _as_float64(x):
    return x.double() if isinstance(x, torch.Tensor) else torch.tensor(float(x), dtype=torch.float64)


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
