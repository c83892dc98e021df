"""Makes texts of unknown origin, a learner's or an exception's, fit for a name, a table, a journal. `base.sanitise` cleans any text."""

import re
import unicodedata

from course_utils.base.sanitise import clean, cut

ADDRESS = re.compile(r"\b(?:0x[0-9a-fA-F]{6,}|\d{12,})\b")  # of an object in memory, different in each run
# The folders of an absolute path: in quotes or brackets up to its last separator, elsewhere up to the last one before a blank.
FOLDERS = re.compile(
    r"""(?:(?<=['"(])(?:[A-Za-z]:)?[/\\][^'"()\n]*[/\\]|(?<![\w.…/\\'"])(?:[A-Za-z]:\\|/)(?:[^\s/\\'"]+[/\\])+)"""
    r"(?!__init__\.py)"  # whose folder is the package's name
)
CELL_AT_MOST = 2000  # characters of a cell; spreadsheets take 32,767
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10))))
FORMULA = "=+-@\u2212"  # what a spreadsheet takes for the beginning of a formula


def without_addresses(text: str) -> str:
    """Return the text without the memory addresses and folders that Python writes into it: the same in each run, on each machine."""
    return FOLDERS.sub("…/", ADDRESS.sub("…", text))


def displayable(text: str) -> str:
    """Return a name fit to be shown: composed (NFC), with \ufffd for what is not a character, is a control, or changes how others are read."""
    shown = unicodedata.normalize("NFC", text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in shown)


def identifier(text: str) -> str:
    """Return a name or number that identifies somebody, as people read it: without invisible characters, words one blank apart."""
    visible = text if text.isascii() else "".join(c for c in text if not _is_invisible(c))
    return displayable(" ".join(visible.split()))


def comparison_key(text: str) -> str:
    """Return what two spellings of one identifier have in common; the case of an e-mail address does not count."""
    spelt = identifier(text)
    return spelt.casefold() if "@" in spelt else spelt


def _is_invisible(character):
    """Return whether a character is invisible: formats such as zero-width spaces and direction marks, fillers, variation selectors."""
    return unicodedata.category(character) == "Cf" or character in FILLERS


def cell(text: str) -> str:
    """Return a text on one line that no spreadsheet takes for a formula: if one could, it begins with an apostrophe.

    A spreadsheet that separates at semicolons splits quoted texts too, so the part after each is checked as well.
    """
    parts = cut(re.sub("[\n\t]", " ", clean(text)), CELL_AT_MOST).split(";")
    return ";".join(f"'{part}" if _begins_formula(part) else part for part in parts)


def from_cell(text: str) -> str:
    """Return the text that `cell` turned into this one: the course may read a table that it has written."""
    parts = text.split(";")
    return ";".join(part[1:] if part.startswith("'") and _begins_formula(part) else part for part in parts)


def _begins_formula(text):
    """Return whether the first visible character but quotes, whatever its width or height, is one of FORMULA."""
    for character in text:
        if unicodedata.category(character)[0] not in "ZC" and character not in "\"'":
            return unicodedata.normalize("NFKC", character)[0] in FORMULA
    return False
