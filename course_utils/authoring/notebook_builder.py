"""Makes a notebook from cells: the header from the lesson's facts, the set-up cell, stable ids, checksums. Runs nothing.

The header's texts are made in `headers.py`.
"""

import hashlib
import json
from dataclasses import replace

from course_utils.authoring.headers import demands, heading, of_exercises, of_lesson, task_facts
from course_utils.authoring.links import PLACEHOLDER, absolute, is_placeholder
from course_utils.authoring.sources import TASK_HEADING, Cell, begins_in_header, split_solutions
from course_utils.base.errors import CourseError
from course_utils.base.paths import folder_of, source_of

FOR_FORMATTER = "  # fmt: skip"  # keeps a matrix in rows in the source; not for readers
REVEALS = "reveals"  # tags a cell whose output answers a prediction: it is folded until the cell is run
FOLDED = {  # by tag: the code of the set-up cell (Colab has its own key for that), the output of a cell that reveals
    "setup": {"jupyter": {"source_hidden": True}, "cellView": "form"},
    REVEALS: {"jupyter": {"outputs_hidden": True}},
}
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
OPEN_IN_COLAB = "Open in Colab"
IF_PLACEHOLDER = f"""
    elif "{PLACEHOLDER}" in source:
        sys.exit(f"The course is not published yet: {{source}} is a placeholder, and nothing can be installed from it. "
                 "Download the course's folder and run `make lab` in it, or set COURSE_SOURCE to a copy of the course.")"""


def compose(root, target, cells, repository):
    """Return the cells of the notebook to be built: a header made from the lesson's facts, the set-up cell, the source's cells.

    A first text cell without a heading belongs to the header: it opens a lesson, and the facts follow; in the exercises, the
    facts come first. A task's heading gets its title, with its demands below.
    """
    header = [heading(root, target.name, target.folder), _colab(target, repository)]
    if target.folder == "notebooks":
        facts = of_lesson(root, target.name, exercises=(root / source_of("exercises", target.name)).is_file())
        opening, cells = _with_opening_apart(cells)
        header += [*opening, facts]
    else:
        tasks = task_facts(root, target.number)
        header.append(of_exercises(root, target.name, tasks))
        cells = [_with_facts(root, target, tasks, cell) for cell in cells]
        if target.folder == "exercises":
            cells, _ = split_solutions(target.source, cells)
        opening, cells = _with_opening_apart(cells)
        header += opening
    setup = Cell("code", set_up_code(repository), 0, {"tags": ["setup"]})
    cells = [Cell("markdown", "\n\n".join(filter(None, header)), 0, {}), setup, *cells]
    return [replace(cell, text=absolute(cell.text, repository)) if cell.kind == "markdown" else cell for cell in cells]


def _with_opening_apart(cells):
    """Return the text that belongs to the header, in a list, and the other cells."""
    return ([cells[0].text], cells[1:]) if begins_in_header(cells) else ([], cells)


def set_up_code(repository):
    source, clause = f"git+{repository}", IF_PLACEHOLDER if is_placeholder(repository) else ""
    return SETUP.format(source=source, placeholder=clause)


def _with_facts(root, target, tasks, cell):
    """Return a cell, adding a task's title and demands if its heading is the task's id."""
    found = TASK_HEADING.match(cell.text) if cell.kind == "markdown" else None
    if not found:
        return cell
    if found[1] not in tasks:
        raise CourseError(
            f"{target.source}, line {cell.line}: there is no task {found[1]} in {folder_of(root, target.number)}/tasks/."
        )
    task, rest = tasks[found[1]], cell.text[found.end() :].strip("\n")
    title = f"{task.title[:1].upper()}{task.title[1:]}"
    return replace(cell, text=f"## {title} `{task.id}`\n\n{demands(task)}\n\n{rest}")


def _colab(target, repository):
    """Return a link that opens the notebook in Colab, which only opens notebooks from GitHub; "" until the course is there."""
    host = "https://github.com/"
    if not repository.startswith(host) or is_placeholder(repository):
        return ""
    path = f"{repository.removeprefix(host).removesuffix('.git')}/blob/main/{target.built}"
    return f"[{OPEN_IN_COLAB}](https://colab.research.google.com/github/{path})"


def notebook_of(target, cells):
    seen, made = {}, []
    for cell in cells:
        seen[cell.text] = seen.get(cell.text, 0) + 1
        identity = cell_id(target.folder, target.name, cell.text, seen[cell.text])
        folded = next((how for tag, how in FOLDED.items() if tag in cell.metadata.get("tags", ())), {})
        text = cell.text.replace(FOR_FORMATTER, "")
        cell_type = {"cell_type": cell.kind, "id": identity, "metadata": cell.metadata | folded, "source": text}
        made.append(cell_type | ({"execution_count": None, "outputs": []} if cell.kind == "code" else {}))
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}


def cell_id(folder: str, name: str, text: str, time: int) -> str:
    """Return the id of a cell, which changes only with its text. `time` counts the cells with this text, from 1.

    It does not depend on what the notebook's file is called: the learners' copies know their cells by these ids.
    """
    return checksum([f"{folder}/{name}.ipynb", text, time])[:12]


def checksum(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def content_hash(notebook):
    """Return a checksum of a built notebook without the entry that holds it; it changes once somebody has edited the notebook."""
    course = {key: value for key, value in notebook["metadata"]["course"].items() if key != "content"}
    return checksum(notebook | {"metadata": notebook["metadata"] | {"course": course}})


def sealed(notebook, sums):
    """Return the notebook's text with its checksums in it; the same content gives the same bytes."""
    import nbformat

    notebook["metadata"] = {key: notebook["metadata"][key] for key in ("kernelspec", "language_info")}
    notebook["metadata"]["language_info"] = {"name": "python"}  # the kernel adds its version
    notebook["metadata"]["course"] = dict(sums)
    stored = json.loads(nbformat.writes(nbformat.from_dict(notebook)))
    stored["metadata"]["course"]["content"] = content_hash(stored)
    return json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
