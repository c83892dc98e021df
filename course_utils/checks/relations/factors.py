"""Factors that come from a size: from the length of an axis, or from a number among the arguments."""

from collections.abc import Callable
from functools import partial
from itertools import product
from math import isclose

import torch

from course_utils.checks.relations.result_changes import is_number
from course_utils.checks.task import Task


def sizes_of(task: Task, args: tuple) -> dict[str, float]:
    """Return the lengths of axes by their letters, and the numbers among the arguments by their names."""
    found = {}
    for name, argument, arg in zip(task.names, task.arguments, args, strict=False):
        parts = argument.partition(" ")[2].split("×")
        if isinstance(arg, torch.Tensor):
            lengths = arg.shape[-(len(parts) - 1) :] if parts[0] == "…" and len(parts) > 1 else arg.shape
            parts = parts[1:] if parts[0] == "…" else parts
            found |= {part: n for part, n in zip(parts, lengths, strict=False) if part.isalpha()}
        elif is_number(arg):
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
            of_sizes = partial(_formula, letter, exponent, times)
            try:
                if all(isclose(of_sizes(s), number, rel_tol=1e-4) for s, number in zip(sizes, numbers, strict=True)):
                    found.append((formula, letter, of_sizes))
            except (TypeError, ZeroDivisionError, OverflowError):  # a root of a negative number, 1 / 0
                continue
    return found


def _formula(letter, exponent, times, sizes):
    return times * sizes[letter] ** exponent
