"""Brings new versions of lessons into the learner's copies, file by file: `course update`. How cells are merged is in `merging.py`."""

from collections.abc import Callable
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.paths import chosen, course_of, number_of, remedy
from course_utils.base.words import count
from course_utils.learner import state
from course_utils.workspace import copies
from course_utils.workspace.merging import answered, asked, merge
from course_utils.workspace.submission import unsaved


def update(root: Path, names: list[str], say: Callable[[str], None] = print) -> list[str]:
    """Update the copies of some lessons, of all if none is named; return what went wrong, as sentences.

    say is called with one line for each copy that was written.
    """
    places = list(copies.places(root))
    if names:
        wanted = chosen(names, sorted({place.name for place in places}))
        places = [place for place in places if place.name in wanted]
    copies.rename_old(root)  # once the names are known to be right
    copies.bring_pages(root)
    problems, made, updated = [], [], False
    for place in places:
        try:
            if not (root / place.own).exists():
                _make(place)
                made.append(place.own)
            elif line := _update(place):
                say(line)
                updated = True
        except CourseError as problem:
            problems.append(str(problem))
        except OSError as problem:
            why = f"{problem.filename or place.own} cannot be used ({problem.strerror})"
            stays = "is left as it is" if (root / place.own).exists() else "is not made"
            problems.append(f"{why}: {place.own} {stays}.")
        except Exception as problem:  # whatever is odd about one copy, the others are brought up to date
            problems.append(f"{place.own} is left as it is, since something in it is odd ({type(problem).__name__}).")
    if made:
        say(f"{made[0]}: new." if len(made) == 1 else f"{len(made)} new copies, from {made[0]} to {made[-1]}.")
    if updated:
        say(
            "If one of these is open in JupyterLab, choose File, Reload Notebook from Disk. If it holds changes that you have not saved, "
            "save it first, choose Overwrite, and run this again: what is not saved is lost when you reload."
        )
    return problems


def _make(place):
    built = _read_original(place)
    path = place.root / place.own
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, copies.to_text(copies.copy_of(place, built)))


def _read_original(place):
    """Return the course's own notebook. Raises `CourseError` if somebody has worked in it."""
    if not copies.is_as_built(place.original):
        back = f"git checkout {place.built}"
        raise CourseError(
            f"{place.built} holds something else than the course's version, perhaps an answer of yours: "
            f"keep what you need of it elsewhere, then bring it back with `{remedy(course_of(place.root), back)}`, or with `course build {number_of(place.name)}` where it was committed."
        )
    return copies.read_original(place)


def _update(place):
    """Update one copy; return the line that says what was done, "" if there was nothing to do."""
    path = place.root / place.own
    own, built = copies.read(path), _read_original(place)
    base = copies.copied(own) or _told_by_cells(place, own, built)
    if base["version"] == copies.version_of(built):
        return ""
    merged = merge(own["cells"], base["cells"], built["cells"])
    if not (base["version"] or merged.brings_something):  # only its cells tell its version, and nothing is new
        return ""
    copy = copies.keep(place.root, place.folder, path)
    new = copies.copy_of(place, built)
    course = copies.a_dict(own["metadata"].get("course")) | new["metadata"]["course"]
    metadata = new["metadata"] | own["metadata"] | {"course": course}
    version = {"nbformat": new["nbformat"], "nbformat_minor": new["nbformat_minor"]}
    whole = own | version | {"metadata": metadata, "cells": merged.cells}
    try:
        write(path.resolve(), copies.to_text(whole))  # a symbolic link stays one
    except OSError:
        (place.root / copy).unlink(missing_ok=True)  # nothing was changed, so there is nothing earlier to keep
        raise
    for task in merged.reread:
        state.change(task, lambda entry: entry.update(state=state.STATES[0]))
    code = [cell["source"] for cell in merged.cells if cell["cell_type"] == "code"]
    return _line(place, merged, copy, unsaved(code, number_of(place.name)) if place.folder == "exercises" else [])


def _told_by_cells(place, own, built):
    """Return what a notebook was copied from if it does not say so, such as one opened on Colab or stripped of its metadata.

    The build derives a cell's id from its text, so an id that the course's notebook has today tells what text the learner's cell had. A
    cell that has lost its id is recognised by its text or by what it answers.
    """
    known = {cell["id"]: copies.cell_digest(cell) for cell in own["cells"] if copies.is_original(place, cell)}
    names, texts = {cell["id"] for cell in own["cells"]}, {copies.cell_digest(cell) for cell in own["cells"]}
    given = {key for cell in own["cells"] if cell["id"] is None for key in answered(cell)}
    if not known and names.isdisjoint(cell["id"] for cell in built["cells"]):
        raise CourseError(
            f"{place.own} is no copy of the course's notebook: move it elsewhere, run `course update {number_of(place.name)}` "
            "for a new copy, and put your answers into it."
        )
    for cell in built["cells"]:
        if cell["id"] in names or copies.cell_digest(cell) in texts or not given.isdisjoint(asked(cell)):
            known[cell["id"]] = copies.cell_digest(cell)
    return {"version": "", "cells": known}


def _line(place, merged, copy, missing):
    changed = min(merged.added, merged.removed)
    counts = (
        (changed, "cell", " changed"),
        (merged.added - changed, "new cell", ""),
        (merged.removed - changed, "old cell", " removed"),
    )
    parts = [count(number, what) + end for number, what, end in counts if number]
    if merged.kept:
        parts.append(f"{count(merged.kept, 'cell')} of yours kept")
    if missing:
        parts.append(f"checked, but without an answer in the saved file: {', '.join(missing)}")
    if merged.reread:
        parts.append(f"read {', '.join(merged.reread)} again, because the task has changed")
    if found := [f'{count(number, "note")} with "{words}"' for words, number in merged.notes.items() if number]:
        parts.append(f"search the notebook (Ctrl-F) for {' and '.join(found)}")
    return f"{place.own}: {'; '.join(parts)}. As it was: {copy}"
