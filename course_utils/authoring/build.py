"""Writes every notebook, and the stored answers, from the .py files that people edit.

    notebooks/NN_topic.py  -> notebooks/NN_topic.ipynb   executed
    solutions/NN_topic.py  -> solutions/NN_topic.ipynb   executed
                           -> exercises/NN_topic_exercises.ipynb   answers cut out, not executed
                           -> course_utils/tasks/answers.json
    the lessons' facts     -> the table in README.md, docs/path.svg

Each notebook carries two hashes: of all that went into it (so that only what changed is built again) and
of itself (so that an edit by hand is found). The headers' texts are made in headers.py; what a lesson must look like is in lint.py.
"""

import ast
import asyncio
import atexit
import hashlib
import json
import os
import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from course_utils.authoring.headers import dots, heading, lesson_facts, of_exercises, of_lesson, task_facts, with_table
from course_utils.authoring.kernels import environment, this_python
from course_utils.authoring.path_picture import picture
from course_utils.base.environment import INSTALL, tomllib
from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.imports import closure, imported
from course_utils.base.places import FOLDERS, NAMED, chosen, file_of, number_of

BUILD_VERSION = 2  # raise it when the build writes something else from the same sources
CELL_TIMEOUT = 300  # seconds
MAX_TOTAL_BYTES = 10_000_000  # all notebooks together
ANSWERS = "course_utils/tasks/answers.json"
TOOLS = ("jupytext", "nbformat", "nbclient", "ipykernel")  # only the extra "lab" brings them

# Were magics looked for, a title such as "# Why?" would be taken for a commented call for help.
PERCENT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
ANY_MARK = re.compile(r"#+\s*(begin|end)\s+solution", re.IGNORECASE)  # a misspelt mark would leak the answer
REVEALS = "reveals"  # tags a cell whose output answers a prediction: it is folded until the cell is run
FOLDED = {  # by tag: the code of the set-up cell (Colab has a word of its own for that), the output of what reveals
    "setup": {"jupyter": {"source_hidden": True}, "cellView": "form"},
    REVEALS: {"jupyter": {"outputs_hidden": True}},
}
OWN_MACHINE = "own-machine"  # tags a cell whose output is about the reader's machine: run, not stored
TASK_HEADING = re.compile(r"## (\d\d\.\w+)(?=\n|$)")
CHECK = re.compile(r"""\bcheck\(\s*["']([\w.]+)["']""")
TABLE = re.compile(r"""\bmeasured(?:_once|_at)?\(\s*["'](\w+)["']""")  # a table that a lesson shows
ASKS = re.compile(r"\b(check|predict|reveal)\(")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

SETUP = """\
# Finds the course's package where this Python has none:
# in the folder around this notebook, else at its address, as on Colab.
import importlib.util, os, pathlib, subprocess, sys
os.environ.setdefault("OMP_NUM_THREADS", "1")  # in several threads, tensors as small as ours are slower
if importlib.util.find_spec("course_utils") is None:
    here, source = pathlib.Path.cwd(), os.environ.get("COURSE_SOURCE", "{source}")
    if around := [folder for folder in (here, *here.parents) if (folder / "course_utils/base/set_up.py").is_file()]:
        sys.path.append(str(around[0]))
        from course_utils.base.set_up import complete
        complete(){placeholder}
    elif subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", source]).returncode:
        sys.exit(f"The course could not be installed from {{source}}: check the connection, run this again.")
    importlib.invalidate_caches()"""
PLACEHOLDER = "github.com/example/"  # in the address of a course that is not published yet
IF_PLACEHOLDER = f"""
    elif "{PLACEHOLDER}" in source:
        sys.exit(f"The course is not published yet: {{source}} is a placeholder, and nothing can be installed from it. "
                 "Download the course's folder and run `make lab` in it, or set COURSE_SOURCE to a copy of the course.")"""


@dataclass(frozen=True)
class Cell:
    """One cell of a source file; `line` is where its text starts, 0 for a cell that the build inserts."""

    kind: str
    text: str
    line: int
    metadata: dict


@dataclass(frozen=True)
class Target:
    """One notebook to be written, e.g. folder "exercises" and name "02_weighted_sums"."""

    folder: str
    name: str

    @property
    def built(self):
        return file_of(self.folder, self.name)

    @property
    def source(self):
        return f"{'solutions' if self.folder == 'exercises' else self.folder}/{self.name}.py"

    @property
    def number(self):
        return number_of(self.name)


def build(
    root: Path, names: list[str] | None = None, check: bool = False, everything: bool = False, say=print
) -> list[str]:
    """Build what changed and return what is wrong as sentences; with check=True only look.

    names: lessons as "02", "02_weighted_sums" or a path. everything: build also what is up to date.
    say is called with one line for each file written.
    """
    root = Path(root).resolve()
    try:
        repository = repository_of(root)
        known = targets = _targets(root)
        if names is not None:
            lessons = chosen(names, sorted({target.name for target in known}))
            targets = [target for target in known if target.name in lessons]
    except CourseError as problem:
        return [str(problem)]
    problems, plans = [], []
    if names is None:
        problems += _orphans(root, known, check, say)
    problems += _answers(root, targets, check, say)
    problems += _pages(root, known, check, say)
    for target in targets:
        try:
            plans += _plan(root, target, repository, check, everything)
        except CourseError as problem:
            problems.append(str(problem))
    problems += [plan["why"] for plan in plans] if check else _build_all(root, plans, say)
    return list(dict.fromkeys(problems)) + _too_big(root)  # one broken source may concern two notebooks


def placeholders(root: Path) -> list[str]:
    """Return a sentence for each file that still names the placeholder of the course's address: none may when it is published."""
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
        if path.is_file() and is_placeholder(_text(path))
    ]


# What there is to build


def repository_of(root):
    """Return the repository's address, which is in pyproject.toml only."""
    if missing := [tool for tool in TOOLS if find_spec(tool) is None]:
        raise CourseError(f"The build needs {', '.join(missing)}: run `{INSTALL}`.")
    try:
        return tomllib.loads(_text(root / "pyproject.toml"))["project"]["urls"]["Repository"].rstrip("/")
    except (OSError, ValueError, KeyError):
        raise CourseError(
            f"{root} holds no pyproject.toml with a Repository address under [project.urls]: "
            "run the build in the course's folder."
        ) from None


def _targets(root):
    found = []
    for folder in ("notebooks", "solutions"):
        for path in sorted((root / folder).glob(f"{NAMED}.py")):
            found.append(Target(folder, path.stem))
            if folder == "solutions":
                found.append(Target("exercises", path.stem))
    if not found:
        raise CourseError(f"{root} holds no lessons: expected files such as notebooks/02_topic.py.")
    return sorted(found, key=lambda target: (target.name, FOLDERS.index(target.folder)))


def _orphans(root, targets, check, say):
    """Notebooks that nothing is built into any more: removed, unless somebody has written into them."""
    problems, wanted = [], {target.built for target in targets}
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.ipynb")):
            built = f"{folder}/{path.name}"
            if built in wanted:
                continue
            if _state(path, None) == "edited":
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


def _too_big(root):
    size = sum(path.stat().st_size for folder in FOLDERS for path in (root / folder).glob("*.ipynb"))
    if size <= MAX_TOTAL_BYTES:
        return []
    return [
        f"All notebooks together have {size / 1e6:.1f} MB, at most {MAX_TOTAL_BYTES / 1e6:.0f} MB: "
        "draw fewer or smaller pictures, then run `course build`."
    ]


# From a source file to cells


def _text(path):
    """Return a file's text with "\\n" line ends, whatever the checkout made of them."""
    return Path(path).read_text(encoding="utf-8")


def read_source(root: Path, name: str) -> list[Cell]:
    """Return the cells of a jupytext percent file, e.g. name "notebooks/02_weighted_sums.py"."""
    import jupytext

    try:
        text = _text(root / name)
        ast.parse(text)
        cells = jupytext.reads(text, fmt=PERCENT).cells
    except (OSError, ValueError) as error:
        raise CourseError(f"{name} cannot be read: {error}.") from None
    except SyntaxError as error:
        raise CourseError(f"{name}, line {error.lineno}: this is not Python: {error.msg}.") from None
    starts = [number for number, line in enumerate(text.split("\n"), 2) if re.match(r"# ?%%", line)]
    starts = [1] * (len(cells) - len(starts)) + starts  # text before the first mark is a cell too
    return [
        Cell(cell.cell_type, cell.source, line, {k: v for k, v in cell.metadata.items() if k == "tags"})
        for cell, line in zip(cells, starts, strict=False)
    ]


def begins_in_header(cells: list[Cell]) -> bool:
    """Return whether the first cell is text without a heading, which the build adds to the header."""
    return bool(cells) and cells[0].kind == "markdown" and not cells[0].text.startswith("#")


def has_answer(cell: Cell) -> bool:
    """Return whether a cell holds a task's answer between its two marks."""
    return cell.kind == "code" and BEGIN in cell.text


def _split_answers(name, cells):
    """Return the exercise's cells, answers cut out, and the answers by task id."""
    exercise, answers = [], {}
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        kept = _cut(name, cell)
        exercise.append(replace(cell, text=kept))
        if kept == cell.text:
            continue
        found = CHECK.search(following.text) if following and following.kind == "code" else None
        if not found:
            raise CourseError(f'{name}, line {cell.line}: the answer needs a `check("...", ...)` cell right under it.')
        task = found.group(1)
        if number_of(task) != number_of(name) or task in answers:
            raise CourseError(
                f"{name}, line {following.line}: task id {task} must be used once and start with {number_of(name)}."
            )
        lines = cell.text.split("\n")
        answers[task] = "\n".join(line for line in lines if line.strip() not in (BEGIN, END))
    return exercise, answers


def _cut(name, cell):
    """Return the cell's text with each marked answer replaced by `raise NotImplementedError`."""
    kept, begun = [], None
    for number, line in enumerate(cell.text.split("\n"), cell.line):
        if ANY_MARK.search(line):
            expected = END if begun else BEGIN
            if line.strip() != expected or cell.kind != "code":
                raise CourseError(
                    f"{name}, line {number}: `{line.strip()}` stands where only `{expected}` is right, "
                    "on a line of its own in a code cell."
                )
            if not begun:
                kept.append(line[: line.index("#")] + "raise NotImplementedError")
            begun = None if begun else number
        elif not begun:
            kept.append(line)
    if begun:
        raise CourseError(f"{name}, line {begun}: `{BEGIN}` has no `{END}` in its cell.")
    return "\n".join(kept)


def _answers(root, targets, check, say):
    """Bring answers.json up to date for the lessons of these targets; the others' entries stay."""
    path, problems = root / ANSWERS, []
    try:
        old = json.loads(_text(path))
    except (OSError, ValueError):
        old = None
    numbers = {target.number for target in targets}
    lessons = {number_of(file.name) for file in (root / "solutions").glob(f"{NAMED}.py")}
    new = {task: text for task, text in (old or {}).items() if number_of(task) in lessons - numbers}
    for target in (target for target in targets if target.folder == "solutions"):
        try:
            new.update(_split_answers(target.source, read_source(root, target.source))[1])
        except CourseError as problem:
            problems.append(str(problem))
            new.update({task: text for task, text in (old or {}).items() if number_of(task) == target.number})
    in_order = dict(sorted(new.items(), key=lambda item: number_of(item[0])))  # within a lesson as in its solutions
    text = json.dumps(in_order, indent=1, ensure_ascii=False) + "\n"
    if not new and old is None or path.exists() and _text(path) == text:
        return problems
    if check:
        return [*problems, f"{ANSWERS} is stale: run `course build`."]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write(path, text)
    except OSError as error:
        return [*problems, _unwritable(ANSWERS, error)]
    say(f"wrote {ANSWERS}")
    return problems


def _pages(root, targets, check, say):
    """Bring up to date what pages show of all lessons: the README's table and the picture of the path."""
    names, problems = sorted({target.name for target in targets if target.folder == "notebooks"}), []
    for file, make in (("README.md", with_table), ("docs/path.svg", _path)):
        path = root / file
        if not path.parent.is_dir() or file == "README.md" and not path.is_file():
            continue
        try:
            old = _text(path) if path.is_file() else ""
            new = make(root, old, names)
            if new == old:
                continue
            if check:
                problems.append(f"{file} is stale, what it shows of the lessons has changed: run `course build`.")
            elif write(path, new):
                say(f"wrote {file}")
        except CourseError as problem:
            problems.append(str(problem))
        except OSError as error:
            problems.append(_unwritable(file, error))
    return problems


def _path(root, old, names):
    return picture({number_of(name): lesson_facts(root, number_of(name)) for name in names})


# From cells to a notebook


def _compose(root, target, cells, repository):
    """Return the cells of the notebook to be: a header made of the lesson's facts, the set-up cell, the source's cells.

    A first cell of text without a heading belongs to the header. Under each task's heading stands its line of dots.
    """
    header = [heading(root, target.name, target.folder), _badge(target, repository)]
    if target.folder == "notebooks":
        header.append(of_lesson(root, target.name, exercises=(root / f"solutions/{target.name}.py").is_file()))
    else:
        tasks = task_facts(root, target.number)
        header.append(of_exercises(root, target.name, tasks))
        cells = [_with_dots(target, tasks, cell) for cell in cells]
        if target.folder == "exercises":
            cells, _ = _split_answers(target.source, cells)
    if begins_in_header(cells):
        header.append(cells[0].text)
        cells = cells[1:]
    setup = Cell("code", _setup(repository), 0, {"tags": ["setup"]})
    return [Cell("markdown", "\n\n".join(filter(None, header)), 0, {}), setup, *cells]


def _setup(repository):
    source, clause = f"git+{repository}", IF_PLACEHOLDER if is_placeholder(repository) else ""
    return SETUP.format(source=source, placeholder=clause)


def is_placeholder(address: str) -> bool:
    """Return whether an address only holds the place of the one at which the course will be published."""
    return PLACEHOLDER in address


def _with_dots(target, tasks, cell):
    """Return a cell whose text begins with a task's heading, with the task's line of dots under it."""
    found = TASK_HEADING.match(cell.text) if cell.kind == "markdown" else None
    if not found:
        return cell
    if found[1] not in tasks:
        raise CourseError(
            f"{target.source}, line {cell.line}: there is no task {found[1]} in course_utils/tasks/lesson_{target.number}/."
        )
    rest = cell.text[found.end() :].strip("\n")
    return replace(cell, text=f"{found[0]}\n\n{dots(tasks[found[1]])}\n\n{rest}")


def _badge(target, repository):
    host = "https://github.com/"
    if not repository.startswith(host):
        return ""  # Colab opens notebooks from there only
    colab = "https://colab.research.google.com"
    address = f"{colab}/github/{repository.removeprefix(host).removesuffix('.git')}/blob/main/{target.built}"
    return f"[![Open in Colab]({colab}/assets/colab-badge.svg)]({address})"


def _notebook(target, cells):
    seen, made = {}, []
    for cell in cells:
        seen[cell.text] = seen.get(cell.text, 0) + 1
        identity = cell_id(target.folder, target.name, cell.text, seen[cell.text])
        folded = next((how for tag, how in FOLDED.items() if tag in cell.metadata.get("tags", ())), {})
        cell_type = {"cell_type": cell.kind, "id": identity, "metadata": cell.metadata | folded, "source": cell.text}
        made.append(cell_type | ({"execution_count": None, "outputs": []} if cell.kind == "code" else {}))
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}


def cell_id(folder: str, name: str, text: str, time: int) -> str:
    """Return the id of a cell: the same as long as its text is. `time` counts the cells of this text, from 1.

    It does not depend on what the notebook's file is called: the learners' copies know their cells by these ids.
    """
    return _hash([f"{folder}/{name}.ipynb", text, time])[:12]


def _hash(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _source_hash(root, target, cells):
    """Return a hash of all that the notebook depends on: its source, the build, the modules that it imports."""
    source, texts = _text(root / target.source), []
    if target.folder != "exercises":
        texts = [(path.relative_to(root).as_posix(), _text(path)) for path in sorted(runs(root, target, cells))]
    return _hash([BUILD_VERSION, target.built, source, [cell.text for cell in cells], texts])


def runs(root: Path, target: Target, cells: list[Cell]) -> set[Path]:
    """Return the files of the package that a notebook's stored outputs depend on: modules, and measured tables that it names.

    What only a cell imports whose output is not stored, as it is about the reader's machine, is left out.
    """
    stored = "\n".join(
        cell.text for cell in cells if cell.kind == "code" and OWN_MACHINE not in cell.metadata.get("tags", ())
    )
    modules = imported(root, stored)
    if ASKS.search(stored):  # the package gives `check` on first use, and `check` loads the lesson's tasks by name
        modules |= {root / "course_utils/learner/notebook.py"}
        modules |= set((root / f"course_utils/tasks/lesson_{target.number}").glob("*.py"))
    tables = {root / f"course_utils/data/measured_tables/{name}.csv" for name in TABLE.findall(stored)}
    return closure(root, {path for path in modules if path.is_file()}) | {path for path in tables if path.is_file()}


# What is built already


def content_hash(notebook):
    """Return a checksum of a built notebook, but for the place that holds it: another one once somebody has edited it."""
    course = {key: value for key, value in notebook["metadata"]["course"].items() if key != "content"}
    return _hash(notebook | {"metadata": notebook["metadata"] | {"course": course}})


def _state(path, source_hash):
    """ "missing", "edited", "stale" or "fresh"."""
    if not path.exists():
        return "missing"
    try:
        notebook = json.loads(_text(path))
        course = notebook["metadata"]["course"]
        if course["content"] != content_hash(notebook):
            return "edited"
    except (OSError, ValueError, KeyError, TypeError):
        return "edited"
    return "fresh" if course["source"] == source_hash else "stale"


def _plan(root, target, repository, check, everything):
    """Return what to do for a target: nothing ([]), or one plan with the reason in words."""
    cells = _compose(root, target, read_source(root, target.source), repository)
    source_hash = _source_hash(root, target, cells)
    state = _state(root / target.built, source_hash)
    if state == "fresh" and (check or not everything):
        return []
    command = f"`course build {target.number}`"
    why = {
        "missing": f"{target.built} is missing: run {command}.",
        "stale": f"{target.built} is stale, what it is built from has changed: run {command}.",
        "edited": f"{target.built} was edited by hand: put your change into {target.source}, then run {command}.",
        "fresh": "",
    }[state]
    return [{"target": target, "cells": cells, "hash": source_hash, "state": state, "why": why}]


# Building


def _build_all(root, plans, say):
    problems = []
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:  # each waits for a kernel of its own
        jobs = [pool.submit(_build_one, root, plan, say) for plan in plans]
        try:
            for job in jobs:
                problems += job.result()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for plan in plans:
                plan.get("stop", bool)()  # bool does nothing: this one doesn't run
            raise
    return problems


def _build_one(root, plan, say):
    target, path, started = plan["target"], root / plan["target"].built, time.monotonic()
    notebook = _notebook(target, plan["cells"])
    try:
        if target.folder != "exercises":
            notebook = _execute(root, plan, notebook)
            _tidy(notebook["cells"])
        path.parent.mkdir(exist_ok=True)
        if plan["state"] == "edited":
            _keep_copy(path, say)
        if write(path, _sealed(notebook, plan["hash"])):
            say(f"wrote {target.built} ({time.monotonic() - started:.0f} s)")
    except CourseError as problem:
        return [str(problem)]
    except OSError as error:
        return [_unwritable(target.built, error)]
    return []


def _unwritable(name, error):
    return f"{name} could not be written: {error.strerror or error}."


def _keep_copy(path, say):
    """Somebody's edits are not lost: they stay where Jupyter keeps its own copies, which git ignores."""
    copy = path.parent / ".ipynb_checkpoints" / f"{path.stem}-before-build.ipynb"
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(path.read_bytes())
    say(f"{path.parent.name}/{path.name} was edited by hand; it is kept as {copy.name} in {copy.parent.name}")


def _execute(root, plan, notebook):
    """Run all cells in a kernel of this Python; return the notebook with outputs, or raise CourseError.

    While it runs, plan["stop"] stops it, from any thread.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    at, target = [0], plan["target"]
    with tempfile.TemporaryDirectory(prefix="course") as folder:
        client = NotebookClient(
            nbformat.from_dict(notebook),
            timeout=CELL_TIMEOUT,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(root / target.folder)}},
            record_timing=False,
            store_widget_state=False,
            on_cell_start=lambda cell, cell_index: at.__setitem__(0, cell_index),
        )
        client.km = this_python(folder)  # not passed above: what the client was given it doesn't shut down
        loop = asyncio.SelectorEventLoop()  # on Windows, the default one doesn't serve the kernel's sockets
        try:
            task = loop.create_task(client.async_execute(env=environment(root)))
            plan["stop"] = lambda: loop.call_soon_threadsafe(task.cancel)
            return loop.run_until_complete(task)
        except CellExecutionError as error:
            words = (error.evalue or "").strip().split("\n")[0].rstrip(".")
            reason = f"failed with {error.ename}: {words}"
        except CellTimeoutError:
            reason = f"ran longer than {CELL_TIMEOUT} s"
        except RuntimeError as error:
            reason = f"could not be run: {str(error).rstrip('.')}"
        finally:
            plan.pop("stop")
            left = asyncio.all_tasks(loop)  # the client's watch over its kernel, where that was stopped
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left))
            loop.close()
            atexit.unregister(client._cleanup_kernel)  # it stays there if the kernel didn't start
    cell = plan["cells"][at[0]]
    first_line = cell.text.split("\n")[0]
    raise CourseError(f"{target.source}, line {cell.line}: the cell `{first_line}` {reason}.")


def _tidy(cells):
    """Drop what differs from run to run (timing, how prints are cut up, widgets); give pictures words."""
    for place, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        cell["metadata"].pop("execution", None)
        cell["outputs"] = _merge_streams(_without_widgets(cell["outputs"]))
        if OWN_MACHINE in cell["metadata"].get("tags", ()):
            cell["outputs"], cell["execution_count"] = [], None
        following = (later["source"] for later in cells[place:] if later["cell_type"] == "markdown")
        sentence = first_sentence(next(following, ""))
        for output in cell["outputs"]:
            if "image/png" not in output.get("data", {}):
                continue
            words = output["data"].get("text/plain", "")
            if "text/html" in output["data"]:  # the picture once more, with words for who runs the cell
                del output["data"]["text/html"]
            elif words and not words.startswith("<"):  # a picture with sliders says what its first one shows
                output["metadata"].setdefault("image/png", {})["alt"] = words
                continue
            if sentence:
                output["data"]["text/plain"] = sentence
                output["metadata"].setdefault("image/png", {})["alt"] = sentence


def _without_widgets(outputs):
    """Return the outputs without widgets, which live in a kernel only; the static picture beside one is kept."""
    kept = []
    for output in outputs:
        if output.get("data", {}).pop(WIDGET_VIEW, None) is None or set(output["data"]) - {"text/plain"}:
            kept.append(output)
    return kept


def _merge_streams(outputs):
    merged = []
    for _, group in groupby(enumerate(outputs), key=lambda pair: pair[1].get("name", pair[0])):
        group = [output for _, output in group]
        if len(group) > 1:
            group[0]["text"] = "".join(output["text"] for output in group)
        merged.append(group[0])
    return merged


def first_sentence(markdown: str) -> str:
    """Return the first sentence of a markdown text that isn't a heading, without its marks."""
    lines = [line for line in markdown.split("\n") if not line.startswith("#")]
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(lines))
    text = re.sub(r"(\*\*|__|[`$]|(?<!\w)[*_](?=\w)|(?<=[\w.?])[*_](?!\w))", "", text)
    text = " ".join(text.split())
    end = re.search(r"[.?!](?=\s+[A-Z0-9]|$)", text)
    return text[: end.end()] if end else text


def _sealed(notebook, source_hash):
    """Return the notebook's text with both hashes in it; the same content gives the same bytes."""
    import nbformat

    notebook["metadata"] = {key: notebook["metadata"][key] for key in ("kernelspec", "language_info")}
    notebook["metadata"]["language_info"] = {"name": "python"}  # the kernel adds its version
    notebook["metadata"]["course"] = {"source": source_hash}
    stored = json.loads(nbformat.writes(nbformat.from_dict(notebook)))
    stored["metadata"]["course"]["content"] = content_hash(stored)
    return json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
