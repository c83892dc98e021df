"""Warns about what works in a notebook but may not in the grading sandbox: other packages, files, other programs, a network, a GPU.

It reads the text of cells, so it can warn before anything is handed in. Nothing is run.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

from course_utils.base.environment import DISTRIBUTION
from course_utils.base.imports import PACKAGES

IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
OTHERS = {
    "reads or writes a file": r"\b(?:open|load|loadtxt|save|savez|savetxt|read_\w+|to_csv|Path)\(\s*[\"'rf]",
    "starts another program or notebook": r"^[ \t]*!|^[ \t]*%run\b|\bos\.system\(|\bsubprocess\.",
    "asks for a network": r"\burlopen\(|\burlretrieve\(|\brequests\.\w+\(|\bhub\.load\(",
    "asks you to type something": r"(?<![\w.])(?<!def )input\(",
    "uses a GPU": r"\.cuda\(|[\"'](?:cuda|mps)\b",
}


def sandbox_warnings(cells: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each thing in a learner's code cells that may not work where a class is graded."""
    text = "\n".join(cell for cell in cells if "COURSE_SOURCE" not in cell)  # the course's own set-up cell
    for name in dict.fromkeys(IMPORT.findall(text)):
        if name not in {*sys.stdlib_module_names, *PACKAGES} and not _comes_with_the_course(name):
            yield f"Your code imports `{name}`, which does not come with the course: where a class is graded, it may be missing. If it is a file of yours, put its code into a cell."
    for does, pattern in OTHERS.items():
        if found := re.search(rf"^(?!\s*#).*?(?:{pattern}).*$", text, re.MULTILINE):
            line = found.group().strip()
            yield f"Your code {does} (`{line[:60]}`), which cannot be done where a class is graded: an answer has to do without it."


@cache
def _comes_with_the_course(module):
    """Return whether a module belongs to a package that the course requires, directly or not; True if that is not known."""
    try:
        if _normal(module) in _requirements(DISTRIBUTION):  # most are, and the rest takes a second
            return True
    except PackageNotFoundError:  # run from a checkout that is not installed
        return True
    needed, waiting = set(), [DISTRIBUTION]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            with suppress(PackageNotFoundError):  # required only on other systems
                waiting += _requirements(name)
    return any(_normal(name) in needed for name in packages_distributions().get(module, ()))


def _requirements(name):
    lines = requires(name) or ()
    return [
        _normal(re.match(r"[\w.-]+", line)[0]) for line in lines if "extra ==" not in line or 'extra == "lab"' in line
    ]


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()
