"""Writes every notebook, and the stored answers, from the .py files that people edit.

    lesson_NN_title/lesson.py     -> notebooks/NN_title.ipynb   executed
    lesson_NN_title/exercises.py  -> solutions/NN_title.ipynb   executed
                                  -> exercises/NN_title_exercises.ipynb   answers cut out, not executed
                                  -> course_lessons/solutions.json
    the lessons' facts            -> the table in README.md

Each notebook carries checksums: of its source (so that only what changed is rebuilt), for each cell of everything its output depends
on (so that a valid output is kept: editing prose reruns nothing), and of itself (so that an edit by hand is detected).

Here: what to build, and when. sources.py reads the sources, notebook_builder.py makes notebooks from them, and execution.py runs these;
dependencies.py finds what outputs depend on, and lint.py says what a lesson must look like.
"""

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

from course_utils.authoring.dependencies import chain
from course_utils.authoring.execution import CellFailed, execute, tidy
from course_utils.authoring.headers import with_table
from course_utils.authoring.links import PLACEHOLDER, address_of, is_placeholder
from course_utils.authoring.notebook_builder import checksum, compose, content_hash, notebook_of, sealed
from course_utils.authoring.sources import Cell, Target, read_source, read_text, split_solutions
from course_utils.base.environment import INSTALL
from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.paths import FOLDERS, LESSONS, chosen, number_of, source_of, sources_in

BUILD_VERSION = 4  # raise it when the build writes something different from the same sources
CELL_TIMEOUT = 300  # seconds
MAX_TOTAL_BYTES = 10_000_000  # all notebooks together
SAID = 100  # characters shown of a line of output that has changed
SOLUTIONS = f"{LESSONS}/solutions.json"
TOOLS = ("jupytext", "nbformat", "nbclient", "ipykernel")  # only the extra "lab" installs them


@dataclass
class Plan:
    """A notebook to be built, and why. `stop` stops it while it is executed, from any thread."""

    target: Target
    cells: list[Cell]
    sums: dict[str, str]
    before: dict  # the notebook whose outputs are valid as long as their checksums are the same; {} if none are
    state: str
    why: str
    equal: bool
    stop: Callable[[], None] = lambda: None


def build(
    root: Path,
    names: list[str] | None = None,
    check: bool = False,
    everything: bool = False,
    say: Callable[[str], None] = print,
    equal: bool = False,
) -> list[str]:
    """Build what changed; return what is wrong, as sentences.

    Args:
        root: the folder of the course.
        names: lessons as "02", "02_weighted_sums" or a path; None for all.
        check: write nothing, only look.
        everything: also build what is up to date.
        say: called with one line for each file that is written.
        equal: keep the outputs of all cells above the first whose own code has changed, whatever has changed in the package.
    """
    root = Path(root).resolve()
    try:
        _need_tools()
        repository = address_of(root)
        known = targets = _find_targets(root)
        if names is not None:
            lessons = chosen(names, sorted({target.name for target in known}))
            targets = [target for target in known if target.name in lessons]
    except CourseError as problem:
        return [str(problem)]
    problems, plans = [], []
    if names is None:
        problems += _remove_orphans(root, known, check, say)
    problems += _update_solutions(root, targets, check, say)
    problems += _update_readme(root, known, check, say)
    for target in targets:
        try:
            plans += _make_plan(root, target, repository, check, everything, equal)
        except CourseError as problem:
            problems.append(str(problem))
    problems += [plan.why for plan in plans] if check else _build_all(root, plans, say)
    return list(dict.fromkeys(problems)) + _size_warning(root)  # one broken source may affect two notebooks


def placeholders(root: Path) -> list[str]:
    """Return a sentence for each file that still has a placeholder for the course's address: none may once it is published."""
    files = [
        root / "pyproject.toml",
        root / "CITATION.cff",
        *sorted(root.glob("*.md")),
        *sorted(root.glob("docs/*.md")),
    ]
    return [
        f"{path.relative_to(root).as_posix()} still names a placeholder, {PLACEHOLDER}…: write the address at which the course is published, "
        "then run `course build`."
        for path in files
        if path.is_file() and is_placeholder(read_text(path))
    ]


# What to build


def _need_tools():
    if missing := [tool for tool in TOOLS if find_spec(tool) is None]:
        raise CourseError(f"the build needs {', '.join(missing)}: run `{INSTALL}`.")


def _find_targets(root):
    found = [Target(folder, name) for folder in FOLDERS for name in sources_in(root, folder)]
    if not found:
        expected = source_of("notebooks", "02_title")
        raise CourseError(f"{root} holds no lessons: expected files such as {expected}.")
    return sorted(found, key=lambda target: (target.name, FOLDERS.index(target.folder)))


def _remove_orphans(root, targets, check, say):
    """Remove notebooks that no source builds any more, unless somebody has written into them."""
    problems, wanted = [], {target.built for target in targets}
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.ipynb")):
            built = f"{folder}/{path.name}"
            if built in wanted:
                continue
            if _is_edited(_read_built(path)):
                problems.append(
                    f"{built} is not built from any source and holds more than the build wrote: "
                    "keep what you need of it elsewhere, then delete it."
                )
            elif check:
                problems.append(f"{built} is not built from any source: `course build` removes it.")
            else:
                path.unlink()
                say(f"removed {built}, which is not built from any source")
    return problems


def _size_warning(root):
    size = sum(path.stat().st_size for folder in FOLDERS for path in (root / folder).glob("*.ipynb"))
    if size <= MAX_TOTAL_BYTES:
        return []
    return [
        f"All notebooks together have {size / 1e6:.1f} MB, at most {MAX_TOTAL_BYTES / 1e6:.0f} MB: "
        "draw fewer or smaller pictures, then run `course build`."
    ]


def _update_solutions(root, targets, check, say):
    """Bring solutions.json up to date for the lessons of these targets; the others' entries stay."""
    path, problems = root / SOLUTIONS, []
    try:
        old = json.loads(read_text(path))
    except (OSError, ValueError):
        old = None
    numbers = {target.number for target in targets}
    lessons = {number_of(name) for name in sources_in(root, "solutions")}
    new = {task: text for task, text in (old or {}).items() if number_of(task) in lessons - numbers}
    for target in (target for target in targets if target.folder == "solutions"):
        try:
            new.update(split_solutions(target.source, read_source(root, target.source))[1])
        except CourseError as problem:
            problems.append(str(problem))
            new.update({task: text for task, text in (old or {}).items() if number_of(task) == target.number})
    in_order = dict(sorted(new.items(), key=lambda item: number_of(item[0])))  # within a lesson as in its exercises
    text = json.dumps(in_order, indent=1, ensure_ascii=False) + "\n"
    if not new and old is None or path.exists() and read_text(path) == text:
        return problems
    if check:
        return [*problems, f"{SOLUTIONS} is stale: run `course build`."]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write(path, text)
    except OSError as error:
        return [*problems, _unwritable(SOLUTIONS, error)]
    say(f"wrote {SOLUTIONS}")
    return problems


def _update_readme(root, targets, check, say):
    """Bring the README's table of lessons up to date."""
    names, path = sorted({target.name for target in targets if target.folder == "notebooks"}), root / "README.md"
    if not path.is_file():
        return []
    try:
        old = read_text(path)
        new = with_table(root, old, names)
        if new != old and check:
            return ["README.md is stale, what it shows of the lessons has changed: run `course build`."]
        if new != old and write(path, new):
            say("wrote README.md")
    except CourseError as problem:
        return [str(problem)]
    except OSError as error:
        return [_unwritable("README.md", error)]
    return []


# What is built already


def _freshness(notebook, sums):
    """Return "missing", "edited", "stale" or "fresh"."""
    if notebook is None:
        return "missing"
    if _is_edited(notebook):
        return "edited"
    return "fresh" if sums.items() <= notebook["metadata"]["course"].items() else "stale"


def _is_edited(notebook):
    try:
        return notebook["metadata"]["course"]["content"] != content_hash(notebook)
    except (KeyError, TypeError):
        return True


def _read_built(path):
    """Return the notebook at path, None if there is none, {} if it cannot be read."""
    try:
        return json.loads(read_text(path)) if path.exists() else None
    except (OSError, ValueError):
        return {}


def _checksums(root, target, cells, notebook):
    """Return the checksums of the source and, if the notebook is executed, of what each output depends on; and the parts it reaches."""
    sums = {
        "source": checksum([BUILD_VERSION, target.built, [[cell.kind, cell.text, cell.metadata] for cell in cells]])
    }
    if target.folder == "exercises":
        return sums, None
    outputs = [output for cell in (notebook or {}).get("cells", ()) for output in cell.get("outputs", ())]
    of_cells, reached = chain(root, target, cells, outputs)
    return sums | {"cells": " ".join(of_cells)}, reached


def _what_changed(notebook, sums, reached):
    """Return what made a notebook stale, in words: what has changed in the package, unless its own cells have."""
    own = notebook["metadata"]["course"].get("source") != sums["source"]  # its text, its lesson's facts, or the build
    return ", ".join([] if own else reached.changed()) or "what it is built from"


def _make_plan(root, target, repository, check, everything, equal):
    """Return what to do for a target: nothing ([]), or one plan with the reason in words."""
    cells = compose(root, target, read_source(root, target.source), repository)
    notebook = _read_built(root / target.built)
    sums, reached = _checksums(root, target, cells, notebook)
    state = _freshness(notebook, sums)
    if state == "fresh" and (check or not everything):
        return []
    command = f"`course build {target.number}`"
    changed = _what_changed(notebook, sums, reached) if check and state == "stale" else ""
    why = {
        "missing": f"{target.built} is missing: run {command}.",
        "stale": f"{target.built} is stale, owing to a change in {changed}: run {command}.",
        "edited": f"{target.built} was edited by hand: put your change into {target.source}, then run {command}.",
        "fresh": "",
    }[state]
    return [Plan(target, cells, sums, notebook if state == "stale" else {}, state, why, equal)]


# Building


def _build_all(root, plans, say):
    problems = []
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:  # each waits for its own kernel
        jobs = [pool.submit(_build_one, root, plan, say) for plan in plans]
        try:
            for job in jobs:
                problems += job.result()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for plan in plans:
                plan.stop()
            raise
    return problems


def _build_one(root, plan, say):
    target, path, started = plan.target, root / plan.target.built, time.monotonic()
    notebook = notebook_of(target, plan.cells)
    try:
        path.parent.mkdir(exist_ok=True)
        if target.folder != "exercises":
            notebook = _with_outputs(root, notebook, plan, say)
        if plan.state == "edited":
            _keep_copy(path, say)
        if write(path, sealed(notebook, _checksums(root, target, plan.cells, notebook)[0])):
            say(f"wrote {target.built} ({time.monotonic() - started:.0f} s)")
    except CellFailed as failed:
        cell = plan.cells[failed.place]
        first_line = cell.text.split("\n")[0]
        return [f"{target.source}, line {cell.line}: the cell `{first_line}` {failed.reason}."]
    except CourseError as problem:
        return [str(problem)]
    except OSError as error:
        return [_unwritable(target.built, error)]
    return []


def _with_outputs(root, notebook, plan, say):
    """Return the notebook with outputs: valid ones are kept, and it runs only if others are needed."""
    target = plan.target
    old, new = _code_cells(plan.before), _code_cells(notebook)
    known = plan.before.get("metadata", {}).get("course", {}).get("cells", "")
    pairs = list(zip(known.split(), plan.sums["cells"].split(), strict=False))
    if plan.equal:
        pairs = [("".join(was["source"]), "".join(cell["source"])) for was, cell in zip(old, new, strict=False)]
    hold = next((place for place, (one, other) in enumerate(pairs) if one != other), len(pairs))
    if hold < len(new):
        notebook = execute(notebook, root, target.folder, CELL_TIMEOUT, on_start=partial(setattr, plan, "stop"))
        tidy(notebook["cells"])
        new = _code_cells(notebook)
    for was, cell in zip(old[:hold], new, strict=False):
        cell["outputs"], cell["execution_count"] = was["outputs"], was["execution_count"]
    for was, line in _changed_lines(old[hold:], new[hold:]):
        say(f"  {target.built} says now: {line!r}, and said: {was!r}")
    return notebook


def _code_cells(notebook):
    return [cell for cell in notebook.get("cells", ()) if cell["cell_type"] == "code"]


def _changed_lines(old, new):
    """Yield (old, new), the first line of output that differs, for each cell whose code is unchanged."""
    before = {"".join(cell["source"]): cell for cell in old}
    for cell in new:
        if was := before.get("".join(cell["source"])):
            pairs = zip_longest(_lines(was), _lines(cell), fillvalue="")
            yield from [(one[:SAID], other[:SAID]) for one, other in pairs if one != other][:1]


def _lines(cell):
    texts = (output.get("text", output.get("data", {}).get("text/plain", "")) for output in cell["outputs"])
    return [line for text in texts for line in "".join(text).split("\n")]


def _unwritable(name, error):
    return f"{name} could not be written: {error.strerror or error}."


def _keep_copy(path, say):
    """Keep somebody's edits where Jupyter keeps its own copies, which git ignores."""
    copy = path.parent / ".ipynb_checkpoints" / f"{path.stem}-before-build.ipynb"
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(path.read_bytes())
    say(f"{path.parent.name}/{path.name} was edited by hand; it is kept as {copy.name} in {copy.parent.name}")
