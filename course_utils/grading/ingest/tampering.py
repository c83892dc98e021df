"""Finds tampering in a notebook: prompts that were edited or deleted, checks that were deleted.

For the instructor, who may have done it. The build names each cell after its text (`cell_id`), and a cell keeps that name when its
text is edited, so a notebook is compared with itself, however the course has changed since it was handed out.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from course_utils.authoring.notebook_builder import cell_id
from course_utils.authoring.sources import CHECK
from course_utils.base.paths import number_of, sources_in
from course_utils.checks import catalogue

# The beginning of a prompt. No part can match what the part before it matches, which would take quadratic time.
PROMPT = re.compile(r"#(?:[^`\n]*`|#* *)(\d\d\.\w{1,60})\b")
BUILT = re.compile("[0-9a-f]{12}")  # a cell's name as the build makes it; other programs' names differ
# What `course release` turns a link out of the folder into.
RELEASED = re.compile(r"\]\(https?://[^()\s]{1,200}/blob/main/")


def find_tampering(titled: Iterable[tuple[str, str]], code: Iterable[str], lesson: str) -> list[str]:
    """Return a sentence each on edited prompts, deleted prompts and deleted checks, if there are any.

    Args:
        titled: (name, text) of the text cells that begin with a heading.
        code: the code cells.
        lesson: such as "03".
    """
    ids = [task.id for task in catalogue.by_lesson()[lesson]]
    prompts = [(found[1], name, text) for name, text in titled if (found := PROMPT.match(text))]
    edited = {task for task, name, text in prompts if _is_edited(name, text, lesson)}
    deleted = {*ids} - {task for task, _, _ in prompts}
    unchecked = {*ids} - {task for cell in code for task in CHECK.findall(cell)}
    found = {"Prompts edited": edited, "Prompts deleted": deleted, "Checks deleted": unchecked}
    listed = {what: [task for task in ids if task in which] for what, which in found.items()}
    return [f"{what}: {', '.join(which) if which != ids else 'all'}." for what, which in listed.items() if which]


def _is_edited(name, text, lesson):
    """Return whether a cell that the build has named no longer has the text it had then."""
    then = RELEASED.sub("](../", text.strip())
    built = {cell_id(folder, _lesson_name(lesson), then, 1) for folder in ("exercises", "solutions")}
    return bool(_lesson_name(lesson)) and BUILT.fullmatch(name) is not None and name not in built


@cache
def _lesson_name(lesson):
    """Return the full name of a lesson, such as "03_queries_keys_values"."""
    names = sources_in(Path(catalogue.__file__).parents[2], "notebooks")
    return next((name for name in names if number_of(name) == lesson), "")
