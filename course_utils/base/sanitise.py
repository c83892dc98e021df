"""Sanitises text of unknown origin, such as a stranger's file or an exception: removes control characters and limits its length."""

import re

LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters except tab and newline, halves of surrogate pairs, marks that change the writing direction, non-characters.
UNSAFE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def clean(text: str) -> str:
    r"""Return the text with line ends as \n, and � for whatever hides, reorders or breaks what is shown."""
    return UNSAFE.sub("\ufffd", LINE_ENDS.sub("\n", text))


def one_line(text: str) -> str:
    """Return the text cleaned and on one line, its words separated by single spaces."""
    return " ".join(clean(text).split())


def cut(text: str, at_most: int) -> str:
    """Return the text, or its beginning and "…" if it is longer."""
    return text if len(text) <= at_most else text[: at_most - 1] + "…"
