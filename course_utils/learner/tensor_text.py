"""Inputs as text that a learner can change: one line for each row of numbers, a blank line between matrices, two between groups of matrices.

Writes tensors and numbers as text and reads them back. Shows nothing and computes nothing.
"""

import re

import torch

from course_utils.base import trees
from course_utils.base.errors import CourseError

AXES_AT_MOST, NUMBERS_AT_MOST = 4, 64  # of a tensor written as text
WHOLE_AT_MOST = 100  # for a whole number: some are the lengths of tensors to be made
DECIMAL_COMMA = re.compile(r"(?<![\w.,])[+-]?\d+,\d+(?![\w.,])")  # not a list of three or more numbers without spaces
TRUTH = {"1": True, "0": False, "true": True, "false": False}


def is_writable(args) -> bool:
    """Return whether all arguments can be written as text and at least one is a tensor."""
    found = list(trees.leaves(args))
    return any(isinstance(leaf, torch.Tensor) for leaf in found) and all(map(_is_writable, found))


def _is_writable(leaf):
    if isinstance(leaf, torch.Tensor):
        if leaf.dim() > AXES_AT_MOST or not 0 < leaf.numel() <= NUMBERS_AT_MOST or leaf.is_complex():
            return False
        return leaf.is_floating_point() or bool((leaf.long().abs() <= WHOLE_AT_MOST).all())
    if isinstance(leaf, int):  # True and False too
        return abs(leaf) <= WHOLE_AT_MOST
    return leaf is None or isinstance(leaf, float)


def to_text(leaf) -> str:
    """Return a tensor or a number as text."""
    if not isinstance(leaf, torch.Tensor):
        return str(leaf)
    if leaf.dim() > 2:
        return ("\n" * (leaf.dim() - 1)).join(map(to_text, leaf))
    digits = 15 if leaf.dtype == torch.float64 or not leaf.is_floating_point() else 7  # whole numbers stay whole
    rows = [
        [f"{float(number) + 0.0:.{digits}g}" for number in row]
        for row in leaf.reshape(-1, leaf.shape[-1] if leaf.dim() else 1)
    ]
    wide = max(len(number) for row in rows for number in row)
    return "\n".join("  ".join(number.rjust(wide) for number in row) for row in rows)


def from_text(text: str, like, name: str):
    """Return the value of a text, of the same kind and with as many axes as `like`. Raises `CourseError`, which says what is wrong."""
    if not isinstance(like, torch.Tensor):
        words = text.split()
        if len(words) != 1:
            raise CourseError(f"{name} is one number, and here are {len(words) or 'none'}.")
        return _number(words[0], _number_type(like), name)
    if found := DECIMAL_COMMA.search(text):
        point = found.group().replace(",", ".")
        raise CourseError(
            f"{name}: write a decimal number with a point, `{point}`, and a space after a comma between numbers."
        )
    if like.dim() == AXES_AT_MOST:
        groups = [group for group in re.split(r"\n(?:[ \t]*\n){2,}", text) if group.strip()] or [""]
        tensors = [from_text(group, like[0], f"{name}[{n}]") for n, group in enumerate(groups)]
        if len({tensor.shape for tensor in tensors}) > 1:
            raise CourseError(f"{name}: between two blank lines there should always be as many matrices, of one shape.")
        _check_count(sum(tensor.numel() for tensor in tensors), name)
        return torch.stack(tensors)
    blocks, rows = [[]], text.replace(",", " ").split("\n")
    for line, row in enumerate(rows, 1):
        numbers = [_number(word, _number_type(like), f"{name}, line {line}") for word in row.split()]
        if numbers:
            blocks[-1].append(numbers)
        elif blocks[-1]:
            blocks.append([])
    blocks = [block for block in blocks if block]
    _check_rows(blocks, like.dim(), name)
    tensor = torch.tensor(blocks, dtype=like.dtype)
    for _ in range(3 - like.dim()):
        tensor = tensor[0]
    return tensor


def _number_type(like):
    """Return the type of `like`'s numbers: bool, int or float."""
    if isinstance(like, torch.Tensor):
        return bool if like.dtype == torch.bool else float if like.is_floating_point() else int
    return type(like)


def _number(word, kind, where):
    if kind is bool:
        if word.lower() not in TRUTH:
            raise CourseError(f"{where}: write 1 for True and 0 for False, not `{word[:20]}`.")
        return TRUTH[word.lower()]
    try:
        number = kind(word)
    except ValueError:
        raise CourseError(f"{where}: `{word[:20]}` is not a {'whole ' * (kind is int)}number.") from None
    if kind is int and abs(number) > WHOLE_AT_MOST:
        raise CourseError(f"{where}: whole numbers go up to {WHOLE_AT_MOST} here, and {word[:20]} is beyond.")
    return number


def _check_rows(blocks, axes, name):
    """Raise `CourseError` if rows of numbers do not make a small tensor with that many axes."""
    if not blocks:
        raise CourseError(f"{name} is empty: write at least one number.")
    if axes < 3 and len(blocks) > 1:
        raise CourseError(
            f"{name} is one matrix: leave no blank line between its rows."
            if axes == 2
            else f"{name} is one row: write it on one line."
        )
    if axes < 2 and len(blocks[0]) > 1:
        raise CourseError(f"{name} is one row: write it on one line.")
    if axes == 0 and len(blocks[0][0]) > 1:
        raise CourseError(f"{name} is one number, and here are {len(blocks[0][0])}.")
    if len({len(block) for block in blocks}) > 1:
        raise CourseError(f"{name}: every matrix needs the same number of rows.")
    lengths = {len(row) for block in blocks for row in block}
    if len(lengths) > 1:
        raise CourseError(
            f"{name}: every row needs the same number of numbers, and here are rows of {min(lengths)} and of {max(lengths)}."
        )
    _check_count(sum(len(row) for block in blocks for row in block), name)


def _check_count(number, name):
    if number > NUMBERS_AT_MOST:
        raise CourseError(f"{name} holds more than {NUMBERS_AT_MOST} numbers: make it smaller.")


def check_shapes(task, args) -> None:
    """Raise `CourseError` if two arguments disagree about the length of an axis with the same letter."""
    known = {}
    for declared, arg in zip(task.arguments, args, strict=False):
        name, _, letters = declared.partition(" ")
        letters = letters.split("×") if letters else []
        if not isinstance(arg, torch.Tensor) or "…" not in letters and arg.dim() != len(letters):
            continue
        for letter, length in zip(reversed(letters), reversed(arg.shape), strict=False):
            if letter == "…":
                break
            other, wanted = known.setdefault(letter, (name, length))
            if wanted != length:
                raise CourseError(
                    f"{other} has {letter} = {wanted} and {name} has {letter} = {length}: both must be the same."
                )
