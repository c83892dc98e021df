"""Sanitises text of unknown origin, such as a stranger's file or an exception: removes control characters and limits its length.

And what somebody perhaps meant by a name that is not known.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches

LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters but for tab and newline, halves of surrogate pairs, what turns the direction of writing, no characters.
UNSAFE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def clean(text: str) -> str:
    r"""Return the text with line ends as \n, and � for whatever hides, reorders or breaks what is shown."""
    return UNSAFE.sub("\ufffd", LINE_ENDS.sub("\n", text))


def one_line(text: str) -> str:
    """Return the text cleaned and on one line, its words separated by single spaces."""
    return " ".join(clean(text).split())


def cut(text: str, at_most: int) -> str:
    """Return the text, or its beginning and "…" where it is longer."""
    return text if len(text) <= at_most else text[: at_most - 1] + "…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like this one, or begins most like it, or has it as a word, as a question in brackets; "" for none.

    A name that differs in nothing but a number is not like this one: 3 is as far from 9 as 5 is.
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
