"""Finds the first thing that is wrong with a value and describes it in a sentence. Calls neither answer nor oracle.

The order is type, shape, finite, value. One tolerance serves all tensors: correct answers in float32 differ from the
float64 truth by far less, incorrect ones by far more. Where float32 is not precise enough for that, the judge passes
a `reach`: how far off each number may be on top of the tolerance.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

import torch

from course_utils.base.words import count
from course_utils.checks.running.contract import Opaque

TOLERANCE = 2e-5  # times 1 + the largest expected magnitude; for a Python number, times the number
NUMBER_AT_LEAST = 1e-6  # but at least this: what differences of float32 numbers leave near 0
SHOWN = 60  # characters of a text
DIGITS, DIGITS_AT_MOST = 4, 17  # significant digits of a number that is shown
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
KINDS = ("type", "shape", "finite", "value", "gradient", "side effect")


@dataclass(frozen=True)
class Finding:
    """The first thing wrong. `expected` and `received` are plain values to show, or None; `steady`: a second call gives the same."""

    kind: str
    sentence: str
    expected: object = None
    received: object = None
    steady: bool = True
    altered: str = ""  # said first, if the answer alters its input
    hints: tuple[str, ...] = ()  # said last

    @property
    def text(self) -> str:
        """All that is said about it."""
        return self.altered + " — ".join(filter(None, (self.sentence, " ".join(self.hints))))


def scale(expected: torch.Tensor) -> float:
    """Return 1 + the largest finite magnitude among the expected numbers: what a tolerance is multiplied by."""
    return 1 + (expected.double().nan_to_num(0, 0, 0).abs().max().item() if expected.numel() else 0)


def close(expected: torch.Tensor, received: torch.Tensor, reach: float | torch.Tensor = 0) -> torch.Tensor:
    """Return where two tensors of the same shape are close, as a bool tensor; NaN counts as equal to NaN."""
    e, r = expected.double(), received.double()
    near = (e - r).abs() <= TOLERANCE * scale(e) + reach
    return near if near.all() else near | (e == r) | (e.isnan() & r.isnan())


def difference(
    expected: object, received: object, result: str | tuple[str, ...], reach: torch.Tensor | list | None = None
) -> Finding | None:
    """Return the first thing wrong with `received`, as a Finding, or None.

    Args:
        expected: the truth; its type is the type asked for.
        received: the answer's value.
        result: what the value is called, with its shape: "weights B×S"; a tuple of these if there are several.
        reach: like `expected`: how far off each number may be on top of the tolerance; None: no further.
    """
    if received is None and expected is not None:
        return Finding("type", "Your function returned nothing (None). Is a `return` missing?")
    if isinstance(result, tuple):
        return _in_parts(expected, received, result, reach or [None] * len(expected))
    name, letters = _name_and_letters(result)
    if isinstance(expected, torch.Tensor):
        return _in_tensor(expected, received, name, letters, 0 if reach is None else reach)
    if isinstance(expected, bool):
        received = received.item() if isinstance(received, torch.Tensor) and received.numel() == 1 else received
        if not isinstance(received, bool):
            return Finding("type", f"Your function returned {describe(received)}; True or False was expected.")
        if received != expected:
            return Finding("value", f"Your function returned {received}; {expected} was expected.", expected, received)
        return None
    if isinstance(expected, str):
        wrong = f"{name} is {describe(received)}, expected {describe(expected)}."
        if isinstance(received, str) and describe(received)[:SHOWN] == describe(expected)[:SHOWN]:
            wrong = f"{name} {_where_texts_part(expected, received)}"
        return None if received == expected else Finding("value", wrong, expected, received)
    if isinstance(expected, (int, float)):
        if isinstance(received, torch.Tensor) and received.numel() == 1 and received.dtype != torch.bool:
            received = received.item()
        return _in_number(expected, received, name)
    if isinstance(expected, dict):
        return _in_dict(expected, received, name)
    return _in_list(expected, received, name)


def _where_texts_part(expected, received):
    """Return from where on two texts differ, with a few characters before."""
    n = len(os.path.commonprefix([expected, received]))
    ahead, there, wanted = (
        repr(text) for text in (expected[max(n - 20, 0) : n], received[n : n + 40], expected[n : n + 40])
    )
    rest = (
        f"{there} follows" if received[n:] else "the text ends",
        f"{wanted} was expected" if expected[n:] else "nothing more was expected",
    )
    return f"is right up to {ahead}, its first {count(n, 'character')}. There, {rest[0]}; {rest[1]}."


def _name_and_letters(result):
    """Return a result's name and its shape's letters; an entry's name may contain a space, and no shape follows it."""
    name, _, letters = (result, "", "") if result.endswith("]") else result.partition(" ")
    return name, letters


def _in_part(expected, received, result, reach=None):
    """Return the first thing wrong with one part of a value."""
    if received is None and expected is not None:
        return Finding("type", f"{_name_and_letters(result)[0]} is None.")
    return difference(expected, received, result, reach)


def _in_number(expected, received, name):
    """Compare a Python number. A whole number must be an int; any other is compared relatively."""
    whole = isinstance(expected, int)
    if isinstance(received, bool) or not isinstance(received, int if whole else (int, float)):
        hint = (
            " `//` divides without a remainder, and `int(…)` cuts off the decimals."
            if isinstance(received, float)
            else ""
        )
        wanted = f"a whole number (int) was expected: {expected}" if whole else "a number was expected"
        return Finding("type", f"{name} is {describe(received)}; {wanted}.{hint}", expected, received)
    off, room = abs(_as_float(received) - expected), max(TOLERANCE * abs(expected), NUMBER_AT_LEAST)
    if received == expected if whole else off <= room:
        return None
    if isinstance(received, float) and not isfinite(received):
        return Finding("finite", f"{name} is {received}; {expected:.4g} was expected.", expected, received)
    if not whole and isfinite(_as_float(received)):
        pair = torch.tensor([expected, float(received)], dtype=torch.float64)
        return Finding("value", _where_wrong(*pair, torch.tensor(False), name), expected, received)
    return Finding("value", f"{name} is {describe(received)}, expected {describe(expected)}.", expected, received)


def _in_list(expected, received, name):
    """Compare a list or tuple, entry by entry. Its numbers must be Python's own, so that `==` and `in` work."""
    if not isinstance(received, (list, tuple)):
        return Finding("type", f"{name}: you returned {describe(received)}; a list was expected.", expected, received)
    if len(received) != len(expected):
        return Finding("shape", f"{name} has length {len(received)}, expected {len(expected)}.", expected, received)
    for place, (e, r) in enumerate(zip(expected, received, strict=True)):
        finding = _in_entry(e, r, f"{name}[{place}]")
        if finding:
            return replace(finding, expected=expected, received=received)
    return None


def _in_entry(expected, received, name):
    """Return the first thing wrong with an entry of a list or a dict, where a tensor does not count as a number."""
    if isinstance(received, torch.Tensor) and isinstance(expected, (bool, int, float)):
        sentence = f"{name} is a tensor; a plain Python number was expected: `.item()` or `.tolist()` makes one."
        return Finding("type", sentence)
    return _in_part(expected, received, name)


def _as_float(number):
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _in_parts(expected, received, result, reach):
    names = [part.partition(" ")[0] for part in result]
    wanted = f"{len(expected)} values were expected: ({', '.join(names)})"
    if not isinstance(received, (tuple, list)):
        return Finding(
            "type", f"Your function returned {describe(received)}; {wanted}, as in `return {', '.join(names)}`."
        )
    if len(received) != len(expected):
        return Finding("type", f"Your function returned {count(len(received), 'value')}; {wanted}.")
    found = [_in_part(*part) for part in zip(expected, received, result, reach, strict=True)]
    found = [finding for finding in found if finding]
    return min(found, key=lambda finding: KINDS.index(finding.kind), default=None)


def _is_tuple_of_entries(expected, received):
    """Return whether a tuple holds the numbers of the expected tensor, as after `return x, y`."""
    if not isinstance(received, tuple) or expected.shape != (len(received),):
        return False
    return all(isinstance(each, (int, float)) or getattr(each, "shape", None) == () for each in received)


def _in_tensor(expected, received, name, letters, reach):
    if not isinstance(received, torch.Tensor):
        several = (
            isinstance(received, list) or received == Opaque("ndarray") or _is_tuple_of_entries(expected, received)
        )
        how = " `torch.stack` makes one from a list of tensors, `torch.as_tensor` from numbers or an array." * several
        how += " Return it alone, not several values." * (isinstance(received, tuple) and not several)
        return Finding("type", f"{name}: you returned {describe(received)}; a torch.Tensor was expected.{how}")
    if expected.dtype == torch.bool:
        if received.dtype != torch.bool:
            return Finding(
                "type",
                f"{name}: you returned numbers of type {_dtype(received)}; True and False (torch.bool) were expected."
                + " With numbers, `~mask` and `masked_fill` do not work." * ("mask" in name),
            )
    elif not expected.is_floating_point():
        if received.dtype == torch.bool or received.is_floating_point() or received.is_complex():
            return Finding(
                "type", f"{name}: you returned {_dtype(received)}; whole numbers (torch.int64) were expected."
            )
    elif received.dtype not in FLOATS:
        return Finding("type", f"{name}: you returned {_dtype(received)}; floating-point numbers were expected.")
    if received.shape != expected.shape:
        return Finding(
            "shape",
            f"{name} has shape {shape(received)}, expected {shape(expected)}{f', that is {letters}' if letters else ''}.",
            expected,
            received,
        )
    if expected.dtype != torch.bool and not received.isfinite().all():
        what = "NaN (not a number)" if received.isnan().any() else "infinity"
        return Finding("finite", f"{name} holds {what}; every number should be finite.", expected, received)
    right = close(expected, received, reach) if expected.is_floating_point() else expected == received
    if not right.all():
        sentence = _where_wrong(expected, received, right, name) + _precision(expected, received)
        return Finding("value", sentence, expected, received)
    if received.dtype in (torch.float16, torch.bfloat16):
        return Finding("type", f"{name}: you return numbers of type {_dtype(received)}, which loses precision.")
    return None


def _where_wrong(expected, received, right, name):
    wrong = (~right).nonzero()
    index = tuple(wrong[0].tolist())
    place = f"{name}[{', '.join(map(str, index))}]" if index else name
    are = "is" if len(wrong) == 1 else "are"
    most = f" {len(wrong)} of {right.numel()} numbers {are} wrong." if right.numel() > 1 else ""
    digits = digits_apart(expected[index], received[index])
    return f"{place} is {number(received[index], digits)}, expected {number(expected[index], digits)}.{most}"


def _precision(expected, received):
    """Return a sentence if numbers are off by no more than rounding to 16 bits and have no more digits than that; else ""."""
    if not expected.is_floating_point() or torch.equal(
        received * 64, (received * 64).round()
    ):  # round numbers show no precision
        return ""
    for dtype in (torch.bfloat16, torch.float16):
        near = (expected.double() - received.double()).abs() <= 2 * torch.finfo(dtype).eps * scale(expected)
        if near.all() and torch.equal(received.to(dtype).to(received.dtype), received):
            return f" Your numbers have only the precision of {_dtype(torch.empty(0, dtype=dtype))}, 16 bits each: compute in float32 throughout."
    return ""


def _in_dict(expected, received, name):
    if not isinstance(received, Mapping):
        return Finding("type", f"Your function returned {describe(received)}; a dict was expected.")
    missing = [key for key in expected if key not in received]
    extra = [key for key in received if key not in expected]
    both = (_in_entry(expected[key], received[key], f"{name}[{key!r}]") for key in expected if key in received)
    found = sorted(filter(None, both), key=lambda finding: KINDS.index(finding.kind))
    if found and found[0].kind == "type":
        return replace(found[0], expected=expected, received=received)
    if missing:
        sentence = f"{name}: the entry {missing[0]!r} is missing."
    elif extra:
        sentence = f"{name}: the entry {describe(extra[0])} should not be there."
    elif found:
        return replace(found[0], expected=expected, received=received)
    else:
        return None
    return Finding("value", sentence, expected, received)


def describe(value: object) -> str:
    """Describe a returned value in a few words: its type, and its shape or size."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {shape(value)}"
    if isinstance(value, Opaque):
        made = " (`async def` makes one: write `def` alone)" * (value.name == "coroutine")
        return f"an object of type {value.name}{made}"
    if isinstance(value, (bool, int, float, str)):
        text = _short_repr(value)
        return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    if value is None:
        return "None"
    return f"a {type(value).__name__} of {len(value)}"


def _short_repr(value):
    try:
        return repr(value)
    except ValueError:  # Python refuses to write out more than a few thousand digits
        return "a huge number"


def shape(tensor: torch.Tensor) -> str:
    """Return a shape as text: (2, 3); a single number has the shape ()."""
    return str(tuple(tensor.shape))


def number(value: torch.Tensor, digits: int = DIGITS) -> str:
    """Return a number with that many significant digits, a truth value as it is."""
    value = value.item()
    return f"{value + 0.0:.{digits}g}" if isinstance(value, float) else str(value)  # + 0.0 turns -0 into 0


def digits_apart(expected: torch.Tensor, received: torch.Tensor) -> int:
    """Return how many significant digits, at least four, it takes to tell wrong numbers from the expected ones."""
    wrong = ~close(expected, received)
    pairs = list(zip(expected[wrong][:100], received[wrong][:100], strict=True))
    enough = (n for n in range(DIGITS, DIGITS_AT_MOST) if all(number(e, n) != number(r, n) for e, r in pairs))
    return next(enough, DIGITS_AT_MOST)


def _dtype(tensor):
    return str(tensor.dtype).removeprefix("torch.")
