"""Writes a course for nbgrader: the same exercises, graded there by the same judge. Does not need nbgrader itself.

    .gitignore                                  # for all that nbgrader writes beside these, which is students' data
    nbgrader_config.py
    source/03/03_queries_keys_values.ipynb      # the solution: nbgrader cuts the answers out itself

Here: the notebooks, and `grade`, which their graded cells call. Not here: this course's own, sandboxed grading (`course grade`):
under nbgrader, an answer runs in the same process as its judge.
"""

import ast
import contextlib
import io
from pathlib import Path

from course_utils.authoring.notebook_builder import OPEN_IN_COLAB
from course_utils.authoring.sources import BEGIN, CHECK
from course_utils.base.errors import CourseError
from course_utils.base.paths import number_of
from course_utils.checks import catalogue
from course_utils.checks.judge_answer import judge_answer
from course_utils.grading.handing_out import release
from course_utils.grading.ingest.class_settings import Settings
from course_utils.grading.reports.points import share_of
from course_utils.grading.storage.record import Verdict

CONFIG = '''\
"""nbgrader's settings for "Attention, from sums to Transformers"; `course export nbgrader` wrote them."""

import os

os.environ["COURSE_PROGRESS"] = "off"  # grading keeps no learner's progress

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "attention"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}  # as in the course's own exercises
c.Execute.timeout = 120  # seconds a cell; a check stops an answer after 10
c.OverwriteCells.add_missing_cells = True  # `course release` hands out notebooks without the graded cells
'''

IGNORED = """\
# All but the course itself: what nbgrader collects and writes here names students.
/*
!/.gitignore
!/nbgrader_config.py
!/source/
"""

GRADED = """\
# Graded: {task}
from course_utils.grading.handing_out.nbgrader import grade

grade("{task}", {answer}, points={points:.10g})"""


def export(root: Path, names: list[str], out: Path, settings: Settings, force: bool = False) -> list[Path]:
    """Write nbgrader's settings and one assignment per lesson into `out`; return the notebooks' paths.

    Args:
        root: the folder of the course.
        names: lessons as "03" or "03_queries_keys_values"; all for none.
        out: the folder of nbgrader's course.
        settings: the instructor's; they set each task's points, and a task left out is not graded.
        force: overwrite even files that hold something else.
    """
    files, notebooks = {out / "nbgrader_config.py": CONFIG, out / ".gitignore": IGNORED}, []
    if (out / ".gitignore").exists() and (out / ".gitignore").read_text(encoding="utf-8", errors="replace") != IGNORED:
        raise CourseError(
            f"{out} has a .gitignore of its own, and nbgrader's course needs one that keeps students' data out of Git: name a "
            "new folder, such as nbgrader-course."
        )
    for lesson in release.lessons(root, names):
        notebooks.append(out / "source" / number_of(lesson) / f"{lesson}.ipynb")
        built = release.read_built(root, "solutions", lesson)
        files[notebooks[-1]] = release.to_text(assignment(built, lesson, settings))
    release.write_all(files, force)
    return notebooks


def assignment(notebook: dict, lesson: str, settings: Settings) -> dict:
    """Return a solution's notebook with nbgrader's metadata and a locked, graded cell below each check that counts."""
    notebook = release.stamped(notebook, lesson)
    points, cells = release.worth(lesson, settings), []
    for cell, following in zip(notebook["cells"], [*notebook["cells"][1:], None], strict=True):
        if cell["cell_type"] == "markdown":
            cells.append(cell | {"source": _without_colab(cell["source"])})
            continue
        cell = cell | {"execution_count": None, "outputs": []}
        if BEGIN in cell["source"]:
            cell["metadata"] = cell["metadata"] | release.to_be_solved(CHECK.search(following["source"]).group(1))
        cells.append(cell)
        found = CHECK.search(cell["source"])
        if found and found.group(1) in points:
            cells.append(_graded_cell(found.group(1), _checked_argument(cell["source"]), points[found.group(1)]))
    return notebook | {"cells": cells}


def grade(task_id: str, answer, points: float) -> float | None:
    """Judge an answer inside one of nbgrader's graded cells; return None if it is right, its points if they are partial.

    Raises AssertionError with the report if it earns nothing. What an answer writes to stderr, such as a warning, is
    suppressed: nbgrader would take it for a failure.
    """
    task = catalogue.load(task_id)
    with contextlib.redirect_stderr(io.StringIO()):
        report = judge_answer(task, answer)
    if report.state == "passed":
        return None
    share, explanation = share_of(task, Verdict.of(report))
    if not share:
        raise AssertionError(str(report))
    print(f"{report}\n{share:.0%} of the points: {explanation}")
    return round(float(share) * points, 2)


def _graded_cell(task, answer, points):
    name = f"{release.cell_name(task)}_graded"
    return {
        "cell_type": "code",
        "id": name,
        "metadata": release.for_nbgrader(name, points=points) | {"deletable": False, "editable": False},
        "source": GRADED.format(task=task, answer=answer, points=points),
        "execution_count": None,
        "outputs": [],
    }


def _checked_argument(source):
    """Return the second argument of a cell's check, as source."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return next(ast.unparse(call.args[1]) for call in calls if getattr(call.func, "id", "") == "check")


def _without_colab(text):
    """Return a text without its link to Colab, which opens the course's own exercise, where nbgrader finds nothing."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(f"[{OPEN_IN_COLAB}]"))
