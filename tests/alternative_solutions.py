"""What the tests know of each task, from `alternative_solutions/` in its lesson's folder: a list CORRECT, and what CONTRIBUTING.md says may be beside it.

CORRECT holds right answers in styles unlike the solution's. Those of them that leave the work to PyTorch's own function, layer or optimizer, or
to the standard library's, are in OWN as well. Where there is no such thing, NONE_OF_ITS_OWN says why.
"""

import runpy
from pathlib import Path

from course_utils.base.paths import number_of

LESSONS = Path(__file__).parents[1] / "course_lessons"
FILES = {
    f"{number_of(file.parts[-3].removeprefix('lesson_'))}.{file.stem}": file
    for file in sorted(LESSONS.glob("*/alternative_solutions/*.py"))
}
HELD = {task_id: runpy.run_path(str(file)) for task_id, file in FILES.items()}
CORRECT = {task_id: held["CORRECT"] for task_id, held in HELD.items()}


def exercises_of(lesson: str) -> str:
    """Return the text of the file that a lesson's exercises and solutions are built from."""
    (file,) = LESSONS.glob(f"lesson_{lesson}_*/exercises.py")
    return file.read_text(encoding="utf-8")
