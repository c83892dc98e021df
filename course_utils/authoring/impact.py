"""Test impact: which tests and notebooks depend on what has changed since the last run without a failure, for `course test --changed`.

A test depends on

- the file it is in, the files of tests/ that this imports, and the files of the package that these import;
- a task mentioned in its name or its code, such as "02.softmax": its declaration, its answer, and alternative solutions;
- any other file whose name, or whose folder's name, is in its own file.

As a plugin of pytest, this module leaves out every test that depends on nothing that has changed. It misses a file whose name a test
puts together, so the usual run, `course test`, relies on this module only for the notebooks that take longest.
"""

import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from course_utils.authoring.build import SOLUTIONS
from course_utils.authoring.dependencies import chain
from course_utils.authoring.sources import Target, read_source
from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.imports import PACKAGES, closure, imported
from course_utils.base.paths import FOLDERS, LESSONS, folder_of, sources_in
from course_utils.checks import catalogue

KEPT = Path("build/last_green.json")  # {what: its checksum} at the last run without a failure
VARIABLE = "COURSE_CHANGED"  # the names of what has changed, for the processes of pytest
ENVIRONMENT = "the environment"
TASK = re.compile(r"\d\d\.\w+")
FOR_ALL = ("tests/conftest.py", "tests/sampling.py")
# Names of folders that too many tests mention.
WITHOUT_MEANING = {*FOLDERS, *PACKAGES, "tests", "models", "data", "tasks", "alternative_solutions", "."}


def changed_since_success(root: Path) -> set[str] | None:
    """Return the names of files and tasks that have changed since the last run without a failure.

    None if no such run is recorded, or only one in a different environment. Raises `CourseError` without git.
    """
    try:
        before = json.loads((root / KEPT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    now = _checksums(root)
    if before.get(ENVIRONMENT) != now[ENVIRONMENT]:
        return None
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


def changed_by_last_commit(root: Path) -> set[str] | None:
    """Return the names of files that differ from the commit before the last one; None if git does not know it."""
    try:
        new = _names_by_git(root, "ls-files", "--others", "--exclude-standard")
        return {*_names_by_git(root, "diff", "--name-only", "HEAD~1"), *new}
    except CourseError:
        return None


def record_success(root: Path) -> None:
    """Record the present state of all files after a run without a failure; without git, record nothing."""
    try:
        text = json.dumps(_checksums(root), indent=0)
    except CourseError:
        return
    (root / KEPT).parent.mkdir(exist_ok=True)
    write(root / KEPT, text)


def as_variable(names: set[str]) -> dict[str, str]:
    """Return the environment variable from which this plugin reads what has changed."""
    return {VARIABLE: json.dumps(sorted(names))}


def notebooks(root: Path, names: set[str], folders: tuple[str, ...], among: Collection[str] | None = None) -> list[str]:
    """Return the built notebooks in these folders (only those in `among`, if given) that depend on what has changed."""
    found = []
    for folder in folders:
        for target in (Target(folder, name) for name in sources_in(root, folder)):
            if among is not None and target.built not in among:
                continue
            page = replace(
                target, folder=FOLDERS[0]
            )  # where what a check says counts, as it should when solutions are run
            _, reached = chain(root, page, read_source(root, target.source), ())
            needs = reached.files | {root / target.source, root / target.built}
            if any((root / name) in needs for name in names):
                found.append(target.built)
    return found


def _checksums(root):
    listed = _names_by_git(root, "ls-files", "--cached", "--others", "--exclude-standard")
    files = {name: root / name for name in listed if (root / name).is_file()}
    sums = {name: _sum(path.read_bytes()) for name, path in files.items() if name != SOLUTIONS}
    if SOLUTIONS in files:
        solutions = json.loads(files[SOLUTIONS].read_text(encoding="utf-8"))
        sums |= {task: _sum(source.encode()) for task, source in solutions.items()}
    return sums | {ENVIRONMENT: f"Python {sys.version}, torch {version('torch')}"}


def _names_by_git(root, *words):
    """Return the names of files that a command of git lists. Raises `CourseError` if git fails or is missing."""
    asks = "`course test --changed` asks git which files there are, and git"
    try:
        listed = subprocess.run(["git", *words, "-z"], cwd=root, capture_output=True, text=True)
    except OSError as error:
        raise CourseError(f"{asks} cannot be run ({error.strerror}).") from None
    if listed.returncode:
        raise CourseError(f"{asks} says: {listed.stderr.strip()}")
    return listed.stdout.split("\0")[:-1]


def _sum(content):
    return hashlib.sha256(content).hexdigest()[:16]


# As a plugin


def pytest_collection_modifyitems(config, items):
    """Select the tests that depend on what has changed, and print how many for which reason."""
    hangs = Impact(config.rootpath, set(json.loads(os.environ[VARIABLE])))
    reasons = [hangs.reason(item) for item in items]
    taken = Counter(filter(None, reasons))
    if not hasattr(config, "workerinput") or config.workerinput["workerid"] == "gw0":
        print(f"\n{taken.total():,} tests are taken, {len(items) - taken.total():,} for known:", file=sys.__stderr__)
        for reason, count in taken.most_common():
            print(f"  {count:,} as {reason}", file=sys.__stderr__)
    items[:] = [item for item, reason in zip(items, reasons, strict=True) if reason]


class Impact:
    """Which tests depend on the files and tasks that have changed."""

    def __init__(self, root, names):
        self.root = root
        self.files = {name for name in names if not TASK.fullmatch(name)}
        self.tasks = {name for name in names if TASK.fullmatch(name)} | set(self._tasks_of(self.files))
        self._for_all = next((f"{name} holds for all tests" for name in FOR_ALL if name in names), None)
        self._of_file = cache(self._of_file)

    def reason(self, item):
        """Return why a test is selected, or None."""
        if whole := self._for_all or self._of_file(item.path):
            return whole
        ids = set(TASK.findall(item.nodeid.partition("[")[2])) or _named_in(getattr(item, "function", None))
        named = sorted(ids & self.tasks)
        return f"they name {named[0]}" if named else None

    def _of_file(self, path):
        modules = _modules(path)
        needed = set()
        for module in modules:
            needed |= imported(self.root, module.read_text(encoding="utf-8"))
        needed = {file for file in closure(self.root, needed) | modules if file.is_relative_to(self.root)}
        needed = {file.relative_to(self.root).as_posix() for file in needed}
        if changed := sorted(needed & self.files):
            return f"they use {changed[0]}"
        text = path.read_text(encoding="utf-8")
        named = [name for name in sorted(self.files - self._seen_otherwise) if _names(text, name)]
        return f"they read {named[0]}" if named else None

    @property
    def _seen_otherwise(self):
        """The changed files that tests import, or reach through tasks; no test reads them by their names."""
        return {
            name
            for name in self.files
            if name.endswith(".py") and name.startswith((*(f"{package}/" for package in PACKAGES), "tests/"))
        }

    def _tasks_of(self, files):
        """Yield the tasks whose declaration, imports from the lessons or alternative solution have changed."""
        declared = {file for file in files if file.startswith(f"{LESSONS}/")}
        lessons = {file.split("_")[2] for file in declared if "/tasks/_" in file}
        if not declared:
            return
        for task in (task for lesson in catalogue.by_lesson().values() for task in lesson):
            folder = folder_of(self.root, task.id)
            needs = closure(self.root, {self.root / folder / f"tasks/{task.id[3:]}.py"})
            needs = {file.relative_to(self.root).as_posix() for file in needs} | {
                f"{folder}/alternative_solutions/{task.id[3:]}.py"
            }
            if needs & declared or task.id[:2] in lessons:
                yield task.id


@cache
def _modules(path):
    """Return a test file and the files beside it that it imports, directly or not."""
    seen, waiting = set(), {path}
    while waiting:
        file = waiting.pop()
        if file.is_file() and file not in seen:
            seen.add(file)
            names = re.findall(r"^\s*(?:from|import) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
            waiting |= {path.parent / f"{name}.py" for name in names}
    return seen


@cache
def _named_in(function):
    """Return the tasks that a test function names, including in its decorators; anything else names none."""
    try:
        return set(TASK.findall(inspect.getsource(function)))
    except (OSError, TypeError):
        return set()


def _names(text, name):
    """Return whether a text names a file: by its path, its name with or without its ending, or a folder that contains it."""
    path = Path(name)
    folders = {folder for folder in path.parts[:-1] if folder not in WITHOUT_MEANING}
    quoted = any(f'"{part}"' in text for part in {path.stem, *folders})
    return quoted or any(part in text for part in (name, path.name, *(f"{folder}/" for folder in folders)))
