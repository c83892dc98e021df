"""Traces which of the course's own functions an answer calls. They are recognised by their code, even renamed or copied.

Calls are recorded, not prevented. The answer runs in the same process and can stop the tracing, which `CallTracer.ended` reports. Whoever
writes an exercise says which functions it offers (`Task.offers`).
"""

import hashlib
import inspect
import os
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path

from course_utils.base.imports import PACKAGES

PACKAGE = Path(__file__).parents[2]
TRACED_PACKAGES = (
    "models",
    "data",
    "training",
    "translation",
)  # which contain what an exercise may ask for
FOLDERS = tuple(f"{PACKAGE / package}{os.sep}" for package in TRACED_PACKAGES)
OURS = tuple(f"{PACKAGE.with_name(package)}{os.sep}" for package in PACKAGES)
RUNNING = tuple(
    f"{PACKAGE / package}{os.sep}" for package in ("checks/running", "grading/sandbox")
)  # which call answers
SEEN = {}  # {a code's id: (its name or "", the code, kept so that no other gets the id)}
DIGESTS = {}  # what `known_digests` returns, or was given


class CallTracer:
    """A context manager that may be entered again; `called` then holds names such as "models.attention.dot", in order.

    `ended` tells whether something else, or nothing, was tracing at the end of a body.
    """

    def __init__(self) -> None:
        called = {}  # in a closure, where an answer does not find it by chance

        def look(frame, event, argument):
            if event != "call":
                return
            code = frame.f_code
            seen = SEEN.get(id(code))
            name = seen[0] if seen else SEEN.setdefault(id(code), (_name(code), code))[0]
            if name and name not in called and _is_the_learners(frame.f_back):
                called[name] = None

        self._look, self._names, self.ended = look, lambda: tuple(called), False
        known_digests()  # before anything is traced

    def __enter__(self) -> "CallTracer":
        self._before = sys.getprofile()
        sys.setprofile(self._look)
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.ended |= error is None and sys.getprofile() is not self._look  # time may run out anywhere, even untraced
        sys.setprofile(self._before)

    @property
    def called(self) -> tuple[str, ...]:
        return self._names()


class NullTracer:
    """Replaces CallTracer where no learner's code runs, because tracing makes a loop several times slower."""

    called = ()
    ended = False

    def __enter__(self) -> "NullTracer":
        return self

    def __exit__(self, *_: object) -> None:
        pass


NULL_TRACER = NullTracer()


def _is_the_learners(frame):
    """Return whether a call came from an answer: whether the nearest caller from the course is the code that runs answers."""
    while frame is not None and not frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    return frame is None or frame.f_code.co_filename.startswith(RUNNING)


@contextmanager
def untraced() -> Iterator[None]:
    """Do not trace the body: a candidate that an answer tests may well call the course's own code."""
    hook = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(hook)


def _name(code):
    """Return the name of a function of the course, by its code; "" for any other."""
    if code.co_filename.startswith(FOLDERS):
        return _dotted_name(code)
    return DIGESTS.get(_digest(code), "")


def _dotted_name(code):
    place = Path(code.co_filename).relative_to(PACKAGE).with_suffix("")
    return ".".join([*place.parts, getattr(code, "co_qualname", code.co_name)])


def known_digests() -> dict[str, str]:
    """Return {digest of its code: name} of all the course's own functions that have a docstring; read once, from their files.

    Functions without a docstring are left out: anybody may write the same line or two. A digest reveals no code, so the table may be in the
    sandbox.
    """
    if not DIGESTS:
        waiting = []
        for file in sorted(file for folder in FOLDERS for file in Path(folder).rglob("*.py")):
            waiting.append(SourceFileLoader(file.stem, str(file)).get_code(file.stem))
        while waiting:
            code = waiting.pop()
            if code.co_flags & inspect.CO_OPTIMIZED and isinstance(next(iter(code.co_consts), None), str):
                DIGESTS[_digest(code)] = _dotted_name(code)
            waiting += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return DIGESTS


def _digest(code):
    """Return a digest of what stays the same when code is renamed and moved: its docstring, constants and names.

    Not its instructions, which differ if `import torch` is in another cell.
    """
    constants = [_constant_text(const) for const in code.co_consts if not isinstance(const, types.CodeType)]
    return hashlib.sha256(repr((code.co_names, code.co_varnames, constants)).encode()).hexdigest()[:32]


def _constant_text(const):
    """Return a constant as text that is the same in each process: a set has a different order in each."""
    return f"{{{sorted(map(_constant_text, const))}}}" if isinstance(const, frozenset) else repr(const)
