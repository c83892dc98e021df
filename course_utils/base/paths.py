"""Paths and names: the folder of the course, its lessons, the folder of a learner's progress, and the names of lessons.

A lesson has a number, "03", and a name, "03_queries_keys_values"; people write "3", "03", the name, or a path to one of its files.
"""

import os
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from course_utils.base.environment import DISTRIBUTION
from course_utils.base.errors import CourseError
from course_utils.base.words import did_you_mean

FOLDERS = ("notebooks", "solutions", "exercises")  # that hold a notebook for each lesson
ENDINGS = {"exercises": "_exercises"}  # what follows the name: JupyterLab's tabs show only the file's name
OWN = "my_course"  # the learner's own copies, in a clone, where git ignores them, or in the folder where `course lab` was called
NAMED = "[0-9][0-9]_*"  # what lessons are called
PUBLISHED = Path(__file__).resolve().parents[1] / "published"  # the course's folder in a wheel, without the code
CODE = Path(__file__).resolve().parents[2]  # the folder that this package lies in: in a clone, the clone's
PRETRAINED = Path(__file__).resolve().parents[1] / "models/pretrained"  # the course's trained models, a folder each
QUESTIONS = "questions.md"  # of a lesson, in its folder
LESSONS = "course_lessons"  # the package of the lessons, with a folder for each


def number_of(lesson: str) -> str:
    """Return a lesson's number, "03", from its number, its name or a path: "3", "03_queries_keys_values", a task's id "03.dot"."""
    return lesson.zfill(2) if lesson.isdecimal() else name_of(lesson)[:2]


def folder_of(root: Path, lesson: str) -> str:
    """Return the path from root to the folder of a lesson's sources; `lesson` is what `number_of` takes."""
    number = number_of(lesson)
    found = sorted(path.name for path in root.glob(f"{LESSONS}/lesson_{number}_*"))
    return f"{LESSONS}/{found[0] if found else f'lesson_{number}'}"


def file_of(folder: str, name: str) -> str:
    """Return the path of a lesson's notebook: "exercises/03_queries_exercises.ipynb" for the folder "exercises" and "03_queries"."""
    return f"{folder}/{name}{ENDINGS.get(folder, '')}.ipynb"


def source_of(folder: str, name: str) -> str:
    """Return the path of what a notebook is built from; exercises and solutions are built from one file."""
    return f"{LESSONS}/lesson_{name}/{'lesson' if folder == 'notebooks' else 'exercises'}.py"


def sources_in(root: Path, folder: str) -> list[str]:
    """Return the names of the lessons that have a source for a folder, such as "exercises", of the course at root, in order."""
    names = sorted(path.name.removeprefix("lesson_") for path in root.glob(f"{LESSONS}/lesson_{NAMED}"))
    return [name for name in names if (root / source_of(folder, name)).is_file()]


def name_of(path: str | Path) -> str:
    """Return the lesson that a file belongs to: "03_queries" for "exercises/03_queries_exercises.ipynb" and "lesson_03_queries/lesson.py"."""
    if (folder := Path(path).parent).match(f"lesson_{NAMED}"):
        return folder.name.removeprefix("lesson_")
    return Path(path).stem.removesuffix(ENDINGS["exercises"])


def chosen(wanted: Iterable[str], known: Iterable[str], having: str = "") -> list[str]:
    """Return the known lessons that are wanted, by number or name, each once, in the order of `known`.

    Of several with the same number, such as a lesson and a copy of it, the first counts unless the name says otherwise. Raises `CourseError` for an unknown lesson. `having` says what the known ones have, such as " with exercises".
    """
    known, found = list(known), set()
    for text in wanted:
        stem = text.zfill(2) if text.isdecimal() else name_of(text)
        match = stem if stem in known else next((one for one in known if stem == one[:2] or stem[:2] == one), None)
        if match is None:
            there = known if len(known) < 6 else [known[0], "…", known[-1]]
            raise CourseError(
                f"there is no lesson {text!r}{having}{did_you_mean(text, known)}: the lessons are {', '.join(there) or 'not here yet'}."
            )
        found.add(match)
    return [lesson for lesson in known if lesson in found]


def clone_folder() -> Path:
    """Return the clone of the course around the current folder, for what only a clone has: sources, tests. Raises `CourseError` outside one."""
    here = current_folder()
    if found := _nearest_folder(here, is_clone):
        return found
    where = f", such as {CODE}" if is_clone(CODE) else ""
    raise CourseError(
        f"{here} is not inside the course: change into the folder of a clone (it holds pyproject.toml and notebooks/){where}."
    )


def workspace_folder() -> Path:
    """Return the folder that my_course is or will be in: the clone around here, else the folder of earlier copies, else the current one.

    Raises `CourseError` if there is no course to copy or if a folder of that name holds other things.
    """
    here = current_folder()
    if found := _nearest_folder(here, is_clone, _holds_copies):
        return found
    if not PUBLISHED.is_dir():
        return clone_folder()
    own = here / OWN
    if own.is_file() or own.is_dir() and any(part.name != "docs" for part in own.iterdir()):
        raise CourseError(
            f"{own} is there already and holds something else, and your copies of the lessons would go into a folder of this name. "
            "Change into another folder, such as a new one, and run this again there."
        )
    return here


def course_folder() -> Path:
    """Return the folder of the built notebooks: the clone around here, else the installed course. Raises `CourseError` without either."""
    return _nearest_folder(current_folder(), is_clone) or (PUBLISHED if PUBLISHED.is_dir() else clone_folder())


def own_course_folder() -> Path:
    """Return the `course_folder` to hand out from. Raises `CourseError` if it is not the one that this command belongs to.

    Anybody can make a folder that looks like a clone, a student among others, and students run what is handed out.
    """
    found = course_folder()
    if found not in (CODE, PUBLISHED):
        raise CourseError(
            f"{found} looks like a clone of the course, but this command belongs to {CODE}: nothing is handed out from a folder "
            "that may be anybody's. Change into another folder, or use the command of that clone, in its .venv."
        )
    return found


def course_of(workspace: Path) -> Path:
    """Return the folder of the built notebooks that the copies in `workspace` come from; a clone has its own."""
    return workspace if is_clone(workspace) or not PUBLISHED.is_dir() else PUBLISHED


def is_clone(folder: Path) -> bool:
    """Return whether a folder is a clone of the course, not the part of it in a wheel or another project with notebooks."""
    project = folder / "pyproject.toml"
    if folder == PUBLISHED or not (project.is_file() and (folder / "notebooks").is_dir()):
        return False
    return f'name = "{DISTRIBUTION}"' in project.read_text(encoding="utf-8", errors="replace")


def remedy(course: Path, in_clone: str) -> str:
    """Return the command that restores a damaged file of the course: `in_clone` in a clone, a new installation for a wheel."""
    if course != PUBLISHED:
        return in_clone
    wheel = f"{DISTRIBUTION.replace('-', '_')}-{version(DISTRIBUTION)}-py3-none-any.whl"
    return f"pip install --force-reinstall --no-deps {wheel}"


def current_folder() -> Path:
    """Return the current folder. Raises `CourseError` if it is gone."""
    try:
        return Path.cwd()
    except OSError:
        raise CourseError("the current folder is gone: change into the folder of the course.") from None


def _nearest_folder(here, *kinds):
    """Return the nearest folder, `here` or above it, of the first of these kinds that is found; None if there is none."""
    around = (here, *here.parents)
    return next((folder for is_it in kinds for folder in filter(is_it, around)), None)


def _holds_copies(folder):
    return any((folder / OWN / copied).is_dir() for copied in ("notebooks", "exercises"))


def _holds_work(folder):
    return (folder / ".course").is_dir() or (folder / "exercises").is_dir()


def learners_folder() -> Path:
    """Return the folder that keeps a learner's progress: named by COURSE_HOME, else the course around here, else the current one.

    The course, or the folder of my_course, comes first, so that notebooks share one progress wherever they are.
    """
    if named := os.environ.get("COURSE_HOME"):
        return Path(named)
    here = Path.cwd()
    return _nearest_folder(here, is_clone, _holds_copies, _holds_work) or here


def names_in(root: Path, folder: str) -> list[str]:
    """Return the names of the lessons that have a notebook in a folder, such as "exercises", of the course at root, in order."""
    return sorted(name_of(path) for path in root.glob(file_of(folder, NAMED)))
