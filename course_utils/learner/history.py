"""What the notebook's kernel has run: finds the answer that is meant and any edit to it that never took effect. Judges nothing.

Outside a notebook it knows nothing, and most functions return None or "".
"""

import linecache
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from course_utils.checks.running.run import code_of

try:
    from IPython import get_ipython
except ImportError:

    def get_ipython():
        """Outside IPython there is no shell."""


@dataclass(frozen=True)
class Ran:
    """One run of a cell. `cell` is the cell's id; None if the notebook program does not give one."""

    cell: str | None
    source: str


_ran = []


def record_cells() -> None:
    """Record what the kernel runs from now on; what it ran before comes from its history."""
    shell = get_ipython()
    if shell is None or getattr(shell, "_course_watches", False):
        return
    shell._course_watches = True
    before = shell.user_ns.get("In")
    _ran.extend(
        Ran(None, source) for source in (before[1:] if isinstance(before, list) else ()) if isinstance(source, str)
    )
    shell.events.register("pre_run_cell", _record)


def _record(info):
    if info.store_history and not info.silent:
        _ran.append(Ran(getattr(info, "cell_id", None), info.raw_cell or ""))


def namespace() -> dict:
    """Return the notebook's names or, outside a notebook, the running program's."""
    shell = get_ipython()
    return shell.user_ns if shell else vars(sys.modules["__main__"])


def in_notebook() -> bool:
    """Return whether this runs in IPython, which may show more than text."""
    return get_ipython() is not None


@contextmanager
def kernel_stays() -> Iterator[None]:
    """Make `exit()` and `quit()`, which would end the kernel just after the cell, end only what the body runs."""
    shell = get_ipython()
    if shell is None:
        yield
        return

    def end():
        raise SystemExit

    shell.ask_exit = end
    try:
        yield
    finally:
        del shell.ask_exit  # restores the shell's own method


def newest(answer):
    """Return a function that gives an answer's newest version: what its name refers to at that time, if it refers to this answer now."""
    name = getattr(answer, "__name__", "")
    if namespace().get(name) is not answer:
        return lambda: answer
    return lambda: namespace().get(name, answer)


def last_defined(names) -> str | None:
    """Return which of these functions and classes a cell defined last; None for none."""
    found = re.compile(rf"^(?:def|class)\s+({'|'.join(map(re.escape, names))})\b", re.MULTILINE)
    for ran in reversed(_ran):
        if defined := found.findall(ran.source):
            return defined[-1]
    return None


def cell_of(answer) -> str:
    """Return the text of the cell that defines an answer; "" outside a notebook."""
    code = code_of(answer)
    return "".join(linecache.getlines(code.co_filename)) if code and in_notebook() else ""


def unused_edit(answer) -> str | None:
    """Return a warning if the cell that defines an answer has been changed and run since, but the change did not take effect; else None."""
    code = code_of(answer)
    if code is None:
        return None
    name = getattr(answer, "__name__", type(answer).__name__)
    if not name.isidentifier() or namespace().get(name) is not answer:  # a lambda, or an older version kept on purpose
        return None
    text = cell_of(answer).strip()
    runs = [place for place, ran in enumerate(_ran) if ran.source.strip() == text]
    if not text or not runs:
        return None
    defines = re.compile(rf"^(?:def|class)\s+{re.escape(name)}\b", re.MULTILINE)
    for ran in reversed(_ran[runs[-1] + 1 :]):
        if defines.search(ran.source):
            return (
                f"Careful: this is not your last version of `{name}`. The last cell you ran with `{name}` in it stopped before it had "
                "defined it, so the earlier version was checked. Fix that cell, run it, and check again."
            )
        if ran.cell and ran.cell == _ran[runs[-1]].cell:
            other = re.search(r"^(?:def|class)\s+(\w+)", ran.source, re.MULTILINE)
            now = f"it now defines `{other[1]}`" if other else "it now defines nothing by that name"
            return (
                f"Careful: `{name}` is no longer in its cell ({now}), but the kernel still has the earlier version, and that is what was checked. "
                f"Rename your answer to `{name}`, run its cell, and check again."
            )
    return None
