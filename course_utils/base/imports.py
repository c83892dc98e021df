"""Which modules of the course a piece of code depends on, read from its imports without running anything.

A module depends on what it imports, wherever the import is, and on each `__init__.py` above these modules that holds more than a docstring,
but not on anything else in those folders. A notebook is therefore stale, and a verdict outdated, only when something that it runs has
changed.
"""

import ast
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from course_utils.base.paths import LESSONS

PACKAGE = "course_utils"
PACKAGES = (PACKAGE, LESSONS)


def closure(root: Path, files: Iterable[Path]) -> set[Path]:
    """Return these files of the course and all that they import from it, directly or not.

    Args:
        root: the folder that holds the course's packages.
        files: modules in them.
    """
    seen, waiting = set(), set(files)
    while waiting:
        path = waiting.pop()
        seen.add(path)
        written = path.stat()
        waiting |= _imported_by(root, path, written.st_mtime_ns, written.st_size) - seen
    return seen


@lru_cache(maxsize=4096)
def _imported_by(root, path, *written):
    """Return what a module itself imports; `written`, its time of writing and its size, tells whether it is still the same."""
    return frozenset(imported(root, path.read_text(encoding="utf-8"), path.parent.relative_to(root).parts))


def imported(root: Path, code: str, package: tuple[str, ...] = ()) -> set[Path]:
    """Return the files of the course that a piece of code itself imports; code that is not Python imports none.

    Args:
        root: the folder that holds the package.
        code: its text.
        package: the folders from root to the code, where its relative imports start.
    """
    return set(_module_files(root, _imported_names(code, package)))


def source_module(node: ast.ImportFrom, package: tuple[str, ...]) -> str:
    """Return the dotted name of the module from which a `from … import` in a package takes its names."""
    above = package[: len(package) - node.level + 1] if node.level else ()
    return ".".join([*above, *([node.module] if node.module else [])])


def module_file(root: Path, dotted: str) -> Path | None:
    """Return the file of a module, or the `__init__.py` of a package; None if there is neither."""
    *folders, name = dotted.split(".")
    candidates = root.joinpath(*folders, f"{name}.py"), root.joinpath(*folders, name, "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


@lru_cache(maxsize=1024)
def _imported_names(code, package):
    """Return the dotted names that code imports from the package; for `from a import b` both a and a.b, as b may be a module."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # running the code will report it better
        return ()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = source_module(node, package)
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return tuple(sorted(name for name in names if name.split(".")[0] in PACKAGES))


def _module_files(root, names):
    """Yield the module's file for each name, and the `__init__.py` of each folder above it that runs something."""
    for name in names:
        for above in accumulate(name.split("."), "{}.{}".format):
            path = module_file(root, above)
            if path and (path.name != "__init__.py" or runs_something(path.read_text(encoding="utf-8"))):
                yield path


@lru_cache(maxsize=1024)
def runs_something(code: str) -> bool:
    """Return whether a module holds more than a docstring; one that is not Python counts as if it did."""
    try:
        statements = ast.parse(code).body
    except SyntaxError:
        return True
    return any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in statements)
