"""Parts of messages: a number with its noun, names as a list, what somebody may have meant by an unknown name."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def count(n: float, noun: str) -> str:
    """Return a number with its noun: "1 sentence", "10,000 students", "1.5 points"."""
    number = f"{n:,}" if isinstance(n, int) else f"{n:g}"
    return f"{number} {noun}{'s' * (n != 1)}"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the known name most like this one, or with the most similar beginning, or with it as a word, as a question in brackets; else "".

    A name that differs only in a number does not count as similar: 3 is as far from 9 as 5 is.
    """
    known = [other for other in known if _letters(other) != _letters(name) or _numbers(other) == _numbers(name)]
    close = get_close_matches(name, known, 1)
    if not close and len(name) > 2:
        beginnings = {other[: len(name)]: other for other in reversed(known)}
        close = [beginnings[found] for found in get_close_matches(name, beginnings, 1, 0.75)]
        with_it = [other for other in known if re.search(rf"(?:\b|_){re.escape(name)}", other, re.IGNORECASE)]
        close = close or with_it * (len(with_it) == 1)
    return f' (did you mean "{close[0]}"?)' if close else ""


def _letters(name):
    return re.sub(r"\d+", "", name)


def _numbers(name):
    return [int(number) for number in re.findall(r"\d+", name)]
