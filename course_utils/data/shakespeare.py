"""Tiny Shakespeare: 1,115,394 characters of plays in one file, put together by Karpathy (2015). The plays are in the public domain.

Here: the text as ids of its characters, cut into three parts. Not here: how the file gets onto this machine (`download.py`).
"""

from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.data.download import fetch
from course_utils.data.tales import encode

CHARACTERS = (
    "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # the id of a character is its position here
)
ENDS = {
    "train": (0, 1_003_854),
    "val": (1_003_854, 1_059_624),
    "test": (1_059_624, 1_115_394),
}  # 18, 1 and 1 of 20 parts


def load_shakespeare(split: str) -> Tensor:
    """Return the ids of train (the first 1,003,854 characters), val or test (55,770 each, one after the other).

    Raises `CourseError` for any other split, and `DataError` if the file is unavailable.
    """
    if split not in ENDS:
        raise CourseError(f"split must be one of {', '.join(ENDS)}, not {split!r}")
    text = fetch("shakespeare/input.txt").read_text(encoding="utf-8")
    return encode(text[slice(*ENDS[split])], CHARACTERS)
