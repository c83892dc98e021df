"""Brings new versions of lessons into the learner's copies, file by file: `course update`. How cells are merged is in `merging.py`."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.places import OWN, chosen, number_of
from course_utils.checks.task import count
from course_utils.desk import copies
from course_utils.desk.merging import merge

EARLIER = f"{OWN}/earlier"  # what copies were before an update


def update(root: Path, names: list[str], say: Callable[[str], None] = print) -> list[str]:
    """Update the copies of some lessons, of all if none is named; return what went wrong, as sentences.

    say is called with one line for each copy that was written.
    """
    places = list(copies.places(root))
    if names:
        wanted = chosen(names, sorted({place.name for place in places}))
        places = [place for place in places if place.name in wanted]
    problems = []
    for place in places:
        try:
            if line := _update(place):
                say(line)
        except CourseError as problem:
            problems.append(str(problem))
    return problems


def _update(place):
    """Update one copy; return the line that says what was done, "" where there was nothing to do."""
    path = place.root / place.own
    own, built = copies.read(path), copies.read(place.root / place.built)
    if not copies.is_as_built(place.root / place.built):
        raise CourseError(
            f"{place.built} holds something else than the course's version, perhaps an answer of yours: "
            f"keep what you need of it elsewhere, then bring it back with `git checkout {place.built}`."
        )
    if own is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, copies.to_text(copies.copy_of(place, built)))
        return f"{place.own}: new."
    base = copies.copied(own) or _told_by_names(place, own)
    if base["version"] == copies.version_of(built):
        return ""
    merged = merge(own["cells"], base["cells"], built["cells"])
    copy = _keep(place, path)
    new = copies.copy_of(place, built)
    metadata = own["metadata"] | {"course": own["metadata"]["course"] | new["metadata"]["course"]}
    version = {"nbformat": new["nbformat"], "nbformat_minor": new["nbformat_minor"]}
    write(path, copies.to_text(own | version | {"metadata": metadata, "cells": merged.cells}))
    return _line(place, merged, copy)


def _told_by_names(place, own):
    """Return what a notebook that does not say so was copied from, such as one opened on Colab: as far as its cells' names tell."""
    known = {cell["id"]: copies.digest(cell) for cell in own["cells"] if copies.is_original(place, cell)}
    if not known:
        raise CourseError(
            f"{place.own} is no copy of the course's notebook: move it elsewhere, run `course update {number_of(place.name)}` "
            "for a new copy, and put your answers into it."
        )
    return {"version": "", "cells": known}


def _keep(place, path):
    """Keep what a copy is now; return where, as a path below the course's folder."""
    folder = place.root / EARLIER / place.folder
    folder.mkdir(parents=True, exist_ok=True)
    stem, number = f"{place.name}_{datetime.now():%Y-%m-%d_%H-%M-%S}", 1
    while (copy := folder / f"{stem}{f'_{number}' * (number > 1)}.ipynb").exists():
        number += 1
    write(copy, path.read_bytes())
    return copy.relative_to(place.root).as_posix()


def _line(place, merged, copy):
    parts = [f"{count(merged.added, 'new cell')}, {count(merged.removed, 'old cell')} removed"]
    if merged.kept:
        parts.append(f"{count(merged.kept, 'cell')} of yours kept")
    if merged.reread:
        parts.append(f"read {', '.join(merged.reread)} again, because the task has changed")
    return f"{place.own}: {'; '.join(parts)}. As it was: {copy}"
