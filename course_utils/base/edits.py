"""A function with one line of its code changed, so that a lesson can run two versions and show how they differ.

Not here: showing the difference (`figures/tables.py`).
"""

import linecache
from collections.abc import Callable
from hashlib import sha256
from inspect import getsource
from textwrap import dedent

from course_utils.base.errors import CourseError


def edited(function: Callable, old: str, new: str) -> Callable:
    """Return a copy of a function in whose code `new` is written where `old` is.

    The copy sees the same global names as the function, and its own code can be shown and edited again.

    Args:
        function: one that is defined in a file or in a notebook's cell.
        old: a piece of its code that occurs in it once.
        new: what to write there.

    Raises:
        CourseError: when `old` does not occur exactly once.
        SyntaxError: when what comes out is no Python code.
    """
    code = dedent(getsource(function))
    if code.count(old) != 1:
        raise CourseError(
            f"{function.__name__} should hold {old!r} exactly once, but holds it {code.count(old)} times: "
            "copy the piece from its code, with enough around it"
        )
    code = code.replace(old, new)
    file, names = f"<{function.__name__} {sha256(code.encode()).hexdigest()[:12]}>", {}
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)  # where `inspect` finds it
    exec(compile(code, file, "exec"), function.__globals__, names)
    return names[function.__name__]
