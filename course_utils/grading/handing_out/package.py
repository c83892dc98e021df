"""Makes a copy of the course that pip can install, without solutions: for students who get them later, and for other graders.

The checks stay, and with them each task's own way to the right answer, written in a different style from a solution.
"""

import gzip
import io
import json
import zipfile
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.imports import PACKAGES
from course_utils.base.paths import LESSONS, PUBLISHED
from course_utils.checks import catalogue
from course_utils.checks.instructor_mistakes import PACKED_MISTAKES, packed
from course_utils.checks.solutions import PACKED_SOURCES

NAME = "attention-course.zip"
FOLDER = "attention-course"  # in the archive, as pip needs one
BESIDE = ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT")
LEFT_OUT = {"__pycache__", PUBLISHED.name}
SOLUTIONS = f"{LESSONS}/solutions.json"
SOLVED = ("lesson_*/exercises.py", "lesson_*/alternative_solutions/*")  # in the lessons' package
MADE = (2026, 1, 1, 0, 0, 0)  # the same for each file, so that the same course gives the same bytes


def package(root: Path, note: str) -> bytes:
    """Return the archive.

    Args:
        root: the folder of the course.
        note: a sentence that `solution` shows instead of each solution.
    """
    code = PUBLISHED.parent
    names = {name: root / name for name in BESIDE}
    for path in sorted(path for package in PACKAGES for path in code.with_name(package).rglob("*")):
        place = path.relative_to(code.parent)
        if path.is_file() and LEFT_OUT.isdisjoint(place.parts) and not any(map(path.match, SOLVED)):
            names[place.as_posix()] = path
    try:
        content = {f"{FOLDER}/{name}": path.read_bytes() for name, path in names.items() if name != SOLUTIONS}
    except OSError as error:
        raise CourseError(
            f"{error.filename} cannot be read ({error.strerror}): the course's folder is not whole."
        ) from None
    content[f"{FOLDER}/{SOLUTIONS}"] = json.dumps(dict.fromkeys(catalogue.solutions(), f"# {note}"), indent=1).encode()
    if own := catalogue.instructor_mistakes():  # changed solutions, since there is no solution to change
        content[f"{FOLDER}/{LESSONS}/{PACKED_MISTAKES}"] = packed(own).encode()
    content[f"{FOLDER}/{LESSONS}/{PACKED_SOURCES}"] = gzip.compress(json.dumps(_changed_solutions()).encode(), mtime=0)
    return zipped(content)


def _changed_solutions():
    every = [task for tasks in catalogue.by_lesson().values() for task in tasks]
    of_steps = {task.id: task.source() for task in every if task.follows_solution}
    return of_steps | {f"{task.id}, {m.name}": task.source(m) for task in every for m in task.mistakes if m.changes}


def zipped(content: dict[str, bytes], mode: int = 0o644) -> bytes:
    """Return an archive of files by name, all with one mode; the same content gives the same bytes."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name, MADE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, mode << 16
            made.writestr(entry, data)
    return archive.getvalue()
