"""Sees which functions of the course's own an answer calls, by their code: under whatever name, and also a copy of one.

Seen is not prevented: the answer runs in the same process. Who writes an exercise says which functions it offers (`Task.offers`).
"""

import os
import sys
import types
from contextlib import contextmanager
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
ROOMS = ("models", "data", "training", "translation")  # of the package, which hold what an exercise may ask for
FOLDERS = tuple(f"{PACKAGE / room}{os.sep}" for room in ROOMS)
OURS, RUNNING = f"{PACKAGE}{os.sep}", f"{PACKAGE / 'checks' / 'running'}{os.sep}"
SEEN = {}  # {a code's id: (its name or "", the code, which is kept so that the id stays its own)}


class Watch:
    """A context manager, which may be entered again; `called` then holds names such as "models.attention.dot", in order."""

    def __init__(self):
        called = {}  # in a closure, where an answer does not come upon it by chance

        def look(frame, event, argument):
            if event != "call":
                return
            code = frame.f_code
            seen = SEEN.get(id(code))
            name = seen[0] if seen else SEEN.setdefault(id(code), (_name(code), code))[0]
            if name and name not in called and _is_the_learners(frame.f_back):
                called[name] = None

        self._look, self._names = look, lambda: tuple(called)
        _copied()  # before anything is watched

    def __enter__(self):
        self._before = sys.getprofile()
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_):
        sys.setprofile(self._before)

    @property
    def called(self) -> tuple[str, ...]:
        return self._names()


def _is_the_learners(frame):
    """Return whether a call came from an answer: whether what runs answers is the nearest of the course's own on the way to it."""
    while frame is not None and not frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    return frame is None or frame.f_code.co_filename.startswith(RUNNING)


@contextmanager
def unwatched():
    """Do not watch the body: what an answer was given to test may well call the course's own code."""
    hook = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(hook)


def _name(code):
    """Return the name of a function of the course's by its code, "" for any other."""
    if code.co_filename.startswith(FOLDERS):
        return _named(code)
    return _copied().get(_content(code), "")


def _named(code):
    place = Path(code.co_filename).relative_to(PACKAGE).with_suffix("")
    return ".".join([*place.parts, getattr(code, "co_qualname", code.co_name)])


def _content(code):
    """Return what stays when a code is given other names and another place. Its docstring is among the constants."""
    constants = tuple(repr(const) for const in code.co_consts if not isinstance(const, types.CodeType))
    return code.co_code, code.co_names, code.co_varnames, constants


@cache
def _copied():
    """Return {content: name} of all functions in the modules that have been imported by now."""
    rooms = tuple(f"{PACKAGE.name}.{room}" for room in ROOMS)
    found, waiting = {}, []
    for name, module in list(sys.modules.items()):
        if name.startswith(rooms):
            waiting += _codes_in(vars(module), name)
    while waiting:
        code = waiting.pop()
        if isinstance(
            next(iter(code.co_consts), None), str
        ):  # a docstring; without one, a line or two may well be written twice
            found[_content(code)] = _named(code)
        waiting += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return found


def _codes_in(names, module):
    for value in names.values():
        value = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(value, types.FunctionType) and value.__module__ == module:
            if value.__code__.co_filename.startswith(FOLDERS):
                yield value.__code__
        elif isinstance(value, type) and value.__module__ == module:
            yield from _codes_in(vars(value), module)
