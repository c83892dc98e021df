"""The tasks' solutions as the build wrote them, and the same with mistakes. Judges nothing and loads no task."""

import gzip
import json
import linecache
import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from course_utils.base.paths import LESSONS, folder_of

# In a copy without solutions: the source of each mistake, by "task, mistake". Compressed, so that nobody reads a solution there by accident.
PACKED_SOURCES = "changed_solutions.json.gz"


@cache
def lessons_folder() -> Path:
    """Return the folder of the lessons' package."""
    return Path(find_spec(LESSONS).origin).parent


@cache
def solutions() -> dict[str, str]:
    """Return {a task's id: the source of its solution}, as the build wrote them from the exercises."""
    return json.loads((lessons_folder() / "solutions.json").read_text(encoding="utf-8"))


@cache
def imports_of(task_id: str) -> str:
    """Return the imports of a task's exercises, one per line; none if the exercises are not handed out."""
    root = lessons_folder().parent
    page = root / folder_of(root, task_id.partition(".")[0]) / "exercises.py"
    lines = page.read_text(encoding="utf-8") if page.is_file() else ""
    return "\n".join(re.findall(r"^(?:from|import) .*$", lines, re.MULTILINE))


@cache
def packed_sources() -> dict[str, str]:
    """Return the sources of mistakes in a copy without solutions; none elsewhere."""
    file = lessons_folder() / PACKED_SOURCES
    return json.loads(gzip.decompress(file.read_bytes())) if file.is_file() else {}


def function_from(source: str, name: str, label: str, space: dict[str, object]) -> Callable:
    """Return the function or class `name` that a source defines, using the names in `space`; tracebacks show it as `label`."""
    file = f"<{label}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = dict(space)
    exec(compile(source, file, "exec"), names)
    return names[name]
