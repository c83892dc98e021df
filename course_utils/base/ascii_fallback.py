"""Text for a terminal or a program that cannot write every character: plain ASCII replaces one such as ✗.

Half a surrogate pair, which no encoding can write, becomes a question mark. Not here: texts of unknown origin in files and pages
(`grading/storage/normalise.py`).
"""

import codecs
import sys
import unicodedata

ERRORS = "course_utils.plain_signs"  # as `open` and `str.encode` take it
PLAIN = {
    "✓": "+", "✗": "x", "○": "o", "●": "*", "→": "->", "←": "<-", "×": "x", "·": ".", "√": "sqrt ", "⁄": "/", "≈": "~", "│": "|",
    "−": "-", "–": "-", "—": "-", "±": "+-", "≠": "!=", "≤": "<=", "≥": ">=", "∞": "inf", "‖": "||", "░": ".", "▒": "+", "▓": "x",
    "█": "#", "“": '"', "”": '"', "‘": "'", "’": "'",
}  # fmt: skip


def plain(sign: str) -> str:
    """Return one character in ASCII: as in PLAIN, a letter without its accent, a Greek letter by its name, else a question mark."""
    name, simple = unicodedata.name(sign, ""), unicodedata.normalize("NFKD", sign)
    if sign in PLAIN or sign.isascii():
        return PLAIN.get(sign, sign)
    if name.startswith("GREEK"):
        return name.rpartition("LETTER ")[2].partition(" ")[0].lower()
    if unicodedata.combining(sign):
        return ""
    power = "^" if unicodedata.decomposition(sign).startswith("<super>") else ""
    return power + "".join(map(plain, simple)) if simple != sign else "?"


def printable(text: str) -> str:
    """Return a text that standard output can encode."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, ERRORS).decode(encoding)


def use_plain_signs() -> None:
    """From now on, print ASCII replacements where the terminal or the reading program cannot show other characters."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a notebook's stream has none and shows every character
            stream.reconfigure(errors=ERRORS)


def _replace(error):
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(plain, error.object[error.start : error.end])), error.end


codecs.register_error(ERRORS, _replace)
