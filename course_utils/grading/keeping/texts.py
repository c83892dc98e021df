"""Texts of unknown origin, a learner's or an exception's: without what hides or breaks what is shown, and cut to a length."""

import re
import unicodedata

ADDRESS = re.compile(r"\b(?:0x[0-9a-fA-F]{6,}|\d{12,})\b")  # of an object in memory, another one in each run
LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters but for tab and newline, halves of surrogate pairs, what turns the direction of writing, no characters.
UNSAFE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def clean(text: str) -> str:
    r"""Return the text with line ends as \n, and � for whatever hides, reorders or breaks what is shown."""
    return UNSAFE.sub("\ufffd", LINE_ENDS.sub("\n", text))


def cut(text: str, at_most: int) -> str:
    """Return the text, or its beginning and "…" where it is longer."""
    return text if len(text) <= at_most else text[: at_most - 1] + "…"


def steady(text: str) -> str:
    """Return the text without the addresses in memory that Python writes into it: the same in each run."""
    return ADDRESS.sub("…", text)


def fit(text: str) -> str:
    """Return a name fit to be shown: composed (NFC), with \ufffd for what is no character, controls, or changes how others are read."""
    shown = unicodedata.normalize("NFC", text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in shown)
