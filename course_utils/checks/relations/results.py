"""Changes of a result: number by number, along an axis, of several axes, and with an argument mixed in."""

from collections.abc import Iterator
from itertools import combinations

import torch

from course_utils.checks.relations.change import Change


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


def between(low, t):
    """Return a tensor of numbers from `low` to 1 as it is; no other has been through a sigmoid or a hyperbolic tangent."""
    if ((t < low) | (t > 1)).any():
        raise TypeError("these numbers lie outside")
    return t


ELEMENTWISE = {
    "zeros in place of {}": torch.zeros_like,
    "ones in place of {}": torch.ones_like,
    "{} with True and False exchanged": lambda t: truth_values(t).logical_not(),
    "the exponential of {}": torch.exp,
    "the logarithm of {}": torch.log,
    "the sigmoid of {}": torch.sigmoid,
    "the hyperbolic tangent of {}": torch.tanh,
    "{} before the sigmoid": lambda t: torch.logit(between(0, t)),
    "{} before the hyperbolic tangent": lambda t: torch.atanh(between(-1, t)),
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
    "{} with each number replaced by the sum over {}": lambda t, a: t.sum(a, keepdim=True).expand_as(t),
    "{} with each number replaced by the mean over {}": lambda t, a: t.mean(a, keepdim=True).expand_as(t),
    "the first entry of {} along {} with that axis dropped": lambda t, a: t.select(a, 0),
    "the last entry of {} along {} with that axis dropped": lambda t, a: t.select(a, -1),
    "only the first entry of {} along {}": lambda t, a: t.narrow(a, 0, 1),
    "{} with each number replaced by the first entry along {}": lambda t, a: t.narrow(a, 0, 1).expand_as(t),
}


OFTEN = {
    "the sigmoid of {}",
    "the hyperbolic tangent of {}",
    "the softmax of {} along {}",
    "the sum of {} over {}",
    "the mean of {} over {}",
    "the sum of {} over {} with that axis kept at size 1",
    "the mean of {} over {} with that axis kept at size 1",
}
INSTEAD = {"zeros in place of {}", "ones in place of {}"}
PICKS = {
    "the maximum of {} over {}",
    "the first entry of {} along {} with that axis dropped",
    "the last entry of {} along {} with that axis dropped",
    "only the first entry of {} along {}",
    "{} with each number replaced by the first entry along {}",
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


def of_results(letters: str, axes: int, names: list[str], args: tuple) -> Iterator[Change]:
    """Give each Change, whose function takes (result, case), of a result with so many axes, its shape written with these letters.

    `text` completes "yours is …", with {} for the result. An argument may be mixed in: those of a case are `args`, by `names`.
    """
    for change in of_tensors(letters, axes):
        yield change._replace(function=lambda t, case, function=change.function: function(t))
    for place, (name, arg) in enumerate(zip(names, args, strict=False)):
        if isinstance(arg, torch.Tensor) or is_number(arg):
            for text, function in MIXED.items():
                yield Change(
                    text.format("{}", name),
                    lambda t, case, place=place, function=function: function(t, _tensor(case.args[place])),
                )


MIXED = {
    "{1} as it came in, not {0}": lambda t, x: x,
    "{0} plus {1}": lambda t, x: t + x,
    "{0} minus {1}": lambda t, x: t - x,
    "{1} minus {0}": lambda t, x: x - t,
    "{0} times {1}": lambda t, x: t * x,
    "{0} divided by {1}": lambda t, x: t / x,
    "{0} times {1}, which is spread along the last axis": lambda t, x: t * x[..., None],
    "{0} divided by {1}, which is spread along the last axis": lambda t, x: t / x[..., None],
    "{0} plus {1}, which is spread along the last axis": lambda t, x: t + x[..., None],
}


def of_tensors(letters, axes):
    """Give the changes that need the result alone."""
    names = axis_names(letters, axes)
    for text, function in ELEMENTWISE.items():
        yield Change(text, function, often=text in OFTEN, instead=text in INSTEAD)
    for a in range(axes):
        for text, function in ALONG.items():
            along = lambda t, a=a - axes, function=function: function(t, a)  # noqa: E731
            yield Change(text.format("{}", names[a]), along, text in OFTEN, text in PICKS)
    for a, b in combinations(range(axes), 2):
        both, i, j = f"{names[a]} and {names[b]}", a - axes, b - axes
        yield Change(f"{{}} with {both} exchanged", lambda t, i=i, j=j: t.transpose(i, j))
        yield Change(
            f"{{}} with the numbers laid out as if {both} were exchanged, but in the old shape",
            lambda t, i=i, j=j: t.transpose(i, j).reshape(t.shape),
        )
        if b == a + 1:
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
        yield Change(f"{{}} with an extra axis of size 1 {where}", lambda t, a=a: t.unsqueeze(a))
    if axes > 1:
        yield Change("{} with all axes flattened into one", torch.flatten)
        yield Change("{} with the first two axes flattened into one", lambda t: t.flatten(0, 1))
        yield Change("{} with the last two axes flattened into one", lambda t: t.flatten(-2))


def _tensor(x):
    return x.double() if isinstance(x, torch.Tensor) else torch.tensor(float(x), dtype=torch.float64)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)
