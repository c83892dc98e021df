"""Finds the first thing that is wrong with a value and says it in a sentence. Calls neither answer nor oracle.

The order is type, shape, finite, value. One tolerance serves all: right answers in float32 differ from the
float64 truth by far less, and wrong ones by far more.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from course_utils.checks.running.contract import Foreign

TOLERANCE = 2e-5  # times 1 + the largest expected magnitude
DIGITS, DIGITS_AT_MOST = 4, 17  # significant digits of a number that is shown
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
KINDS = ("type", "shape", "finite", "value", "gradient", "side effect")


@dataclass(frozen=True)
class Finding:
    """What is wrong first. `expected` and `received` are plain values to show, or None."""

    kind: str
    sentence: str
    expected: object = None
    received: object = None


def close(expected, received):
    """Return where two tensors of one shape are close, as a bool tensor; NaN counts as equal to NaN."""
    e, r = expected.double(), received.double()
    finite = e[e.isfinite()]
    scale = 1 + (finite.abs().max().item() if finite.numel() else 0)
    return ((e - r).abs() <= TOLERANCE * scale) | (e == r) | (e.isnan() & r.isnan())


def difference(expected, received, result):
    """Return the first thing wrong with `received`, as a Finding, or None.

    Args:
        expected: the truth; its own type tells what is asked for.
        received: the answer's value.
        result: what the value is called, with its shape: "weights B×S".
    """
    if received is None and expected is not None:
        return Finding("type", "Your function returned nothing (None). Is a `return` missing?")
    if isinstance(expected, tuple):
        return _in_parts(expected, received, result)
    name, _, letters = result.partition(" ")
    if isinstance(expected, torch.Tensor):
        return _in_tensor(expected, received, name, letters)
    if isinstance(expected, bool):
        received = received.item() if isinstance(received, torch.Tensor) and received.numel() == 1 else received
        if not isinstance(received, bool):
            return Finding("type", f"Your function returned {describe(received)}; True or False was expected.")
        if received != expected:
            return Finding("value", f"Your function returned {received}; {expected} was expected.", expected, received)
        return None
    if isinstance(expected, float):
        if isinstance(received, (int, float)) and not isinstance(received, bool):
            received = torch.tensor(_as_float(received), dtype=torch.float64)
        return _in_tensor(torch.tensor(expected, dtype=torch.float64), received, name, letters)
    return _in_dict(expected, received, name)


def _as_float(number):
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _in_parts(expected, received, result):
    names = [part.partition(" ")[0] for part in result]
    wanted = f"{len(expected)} values were expected: ({', '.join(names)})"
    if not isinstance(received, (tuple, list)):
        return Finding(
            "type", f"Your function returned {describe(received)}; {wanted}, as in `return {', '.join(names)}`."
        )
    if len(received) != len(expected):
        return Finding("type", f"Your function returned {len(received)} values; {wanted}.")
    found = [difference(e, r, part) for e, r, part in zip(expected, received, result, strict=True)]
    found = [finding for finding in found if finding]
    return min(found, key=lambda finding: KINDS.index(finding.kind), default=None)


def _in_tensor(expected, received, name, letters):
    if not isinstance(received, torch.Tensor):
        return Finding("type", f"{name}: you returned {describe(received)}; a torch.Tensor was expected.")
    if expected.dtype == torch.bool:
        if received.dtype != torch.bool:
            return Finding(
                "type",
                f"{name}: you returned numbers of type {_dtype(received)}; True and False (torch.bool) were expected. "
                "With numbers, `~mask` and `masked_fill` go wrong.",
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
    right = close(expected, received)
    if not right.all():
        return Finding("value", _where_wrong(expected, received, right, name), expected, received)
    if expected.dtype != torch.bool and received.dtype in (torch.float16, torch.bfloat16):
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


def _in_dict(expected, received, name):
    if not isinstance(received, Mapping):
        return Finding("type", f"Your function returned {describe(received)}; a dict was expected.")
    missing = [key for key in expected if key not in received]
    extra = [key for key in received if key not in expected]
    kinds = [key for key in expected if key in received and type(received[key]) is not type(expected[key])]
    if kinds:
        key = kinds[0]
        sentence = (
            f"{name}[{key!r}] is {describe(received[key])}; a whole number (int) was expected: {expected[key]!r}."
        )
        return Finding("type", sentence, expected, received)
    wrong = [key for key in expected if key in received and received[key] != expected[key]]
    if missing:
        sentence = f"{name}: the entry {missing[0]!r} is missing."
    elif extra:
        sentence = f"{name}: the entry {describe(extra[0])} should not be there."
    elif wrong:
        sentence = f"{name}[{wrong[0]!r}] is {describe(received[wrong[0]])}, expected {expected[wrong[0]]!r}."
    else:
        return None
    return Finding("value", sentence, expected, received)


def describe(value):
    """Describe a returned value in a few words: its type, and its shape or size."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {shape(value)}"
    if isinstance(value, Foreign):
        return f"an object of type {value.name}"
    if isinstance(value, (bool, int, float, str)):
        text = _written(value)
        return text if len(text) <= 60 else f"{text[:60]}…"
    if value is None:
        return "None"
    return f"a {type(value).__name__} of {len(value)}"


def _written(value):
    try:
        return repr(value)
    except ValueError:  # Python refuses to write out more than some thousand digits
        return "a huge number"


def shape(tensor):
    """Return a shape as text: (2, 3); a single number has the shape ()."""
    return str(tuple(tensor.shape))


def number(value, digits=DIGITS):
    """Return a number with so many significant digits, a truth value as it is."""
    value = value.item()
    return str(value) if isinstance(value, bool) else f"{value + 0.0:.{digits}g}"  # + 0.0 makes -0 plain


def digits_apart(expected, received):
    """Return how many significant digits, four or more, show that wrong numbers differ from the expected ones."""
    wrong = ~close(expected, received)
    pairs = list(zip(expected[wrong][:100], received[wrong][:100], strict=True))
    enough = (n for n in range(DIGITS, DIGITS_AT_MOST) if all(number(e, n) != number(r, n) for e, r in pairs))
    return next(enough, DIGITS_AT_MOST)


def _dtype(tensor):
    return str(tensor.dtype).removeprefix("torch.")
