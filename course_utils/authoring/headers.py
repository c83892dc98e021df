"""What the build writes from facts: the headers of notebooks, the line under a task's heading, the README's table.

Here: texts. Not here: the facts (`course_lessons/lesson_NN_title/__init__.py`), and which cell or file a text goes into (`build.py`).
"""

import re
import runpy
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.paths import file_of, folder_of, number_of
from course_utils.base.words import count
from course_utils.checks.lesson import Lesson
from course_utils.checks.task import Task

DIFFICULTY = ("very easy", "easy", "medium", "hard", "very hard")  # from 1 to 5
IMPORTANCE = ("very low", "low", "medium", "high", "very high")
TABLE = re.compile(r"(<!-- lessons: written by `course build` -->\n).*?(<!-- end of lessons -->)", re.DOTALL)
LEGEND = (
    "The line under a task's heading says how hard it is, how important, and how long it may take you at most. "
    "The more of what follows depends on a task, the more important it is."
)


def lesson_facts(root: Path, number: str) -> Lesson:
    """Return a lesson as declared in the course at root. Raises `CourseError` if it is not."""
    name = f"{folder_of(root, number)}/__init__.py"
    file = root / name
    lesson = runpy.run_path(str(file)).get("lesson") if file.is_file() else None
    if not isinstance(lesson, Lesson):
        raise CourseError(f"{name} declares no lesson: write `lesson = Lesson(...)`, as its neighbours do.")
    return lesson


def task_facts(root: Path, number: str) -> dict[str, Task]:
    """Return the tasks of a lesson in the course at root, by id. Raises `CourseError` for a file that declares none."""
    found = {}
    for file in sorted((root / folder_of(root, number)).glob("tasks/[!_]*.py")):
        task = runpy.run_path(str(file)).get("task")
        if not isinstance(task, Task) or task.text != file.with_suffix(".md"):
            raise CourseError(f"{file.relative_to(root).as_posix()} must declare `task = Task(__name__, ...)`.")
        found[task.id] = task
    return found


def of_lesson(root: Path, name: str, exercises: bool) -> str:
    """Return the header of a lesson's notebook, without its heading."""
    lesson, tasks = (facts(root, number_of(name)) for facts in (lesson_facts, task_facts))
    goals = "\n".join(f"- {goal}" for goal in lesson.goals)
    more = (
        f", and up to {_minutes(tasks)} minutes more for the [exercises](../{file_of('exercises', name)})"
        if exercises
        else ""
    )
    return (
        f"**You will be able to**\n\n{goals}\n\n**You need** {lesson.needs}.\n\n**Time** About {lesson.reading} minutes to read{more}.\n\n"
        f"**GPU** {lesson.gpu[:1].upper()}{lesson.gpu[1:]}; the notebook runs in {lesson.runs} on a laptop."
    )


def of_exercises(root: Path, name: str, tasks: dict[str, Task]) -> str:
    """Return the header of a lesson's exercises, without its heading; `tasks` are what `task_facts` returns."""
    lesson = lesson_facts(root, number_of(name))
    return (
        f"{count(len(tasks), 'task')}, up to {_minutes(tasks)} minutes in all. "
        f"The lesson they belong to: [{lesson.number} {lesson.question}](../{file_of('notebooks', name)})\n\n{LEGEND}"
    )


def _minutes(tasks):
    return sum(task.minutes for task in tasks.values())


def heading(root: Path, name: str, folder: str) -> str:
    """Return the first line of a notebook."""
    lesson = lesson_facts(root, number_of(name))
    if folder == "notebooks":
        return f"# {lesson.number} {lesson.question}"
    return f"# {lesson.number} {lesson.title}: exercises"


def demands(task: Task) -> str:
    """Return the line under a task's heading: how difficult, how important, how long."""
    difficulty, importance = DIFFICULTY[task.difficulty - 1], IMPORTANCE[task.importance - 1]
    return f"{difficulty.capitalize()} · {importance} importance · up to {count(task.minutes, 'minute')}"


def with_table(root: Path, readme: str, names: list[str]) -> str:
    """Return the README's text with its table of lessons rewritten from the facts.

    Args:
        root: the folder of the course.
        readme: its present text, which stays unchanged if it lacks the two marks.
        names: the lessons that have a notebook, such as "02_weighted_sums".
    """
    rows = ["| lesson | the question | time | exercises |", "| --- | --- | --- | --- |"]
    reading = solving = 0
    for name in names:
        lesson, tasks = lesson_facts(root, number_of(name)), task_facts(root, number_of(name))
        minutes = _minutes(tasks)
        reading, solving = reading + lesson.reading, solving + minutes
        exercises = f"[{count(len(tasks), 'task')}, {minutes} min]({file_of('exercises', name)})" if tasks else ""
        title = f"[{lesson.number} {lesson.title}]({file_of('notebooks', name)})"
        rows.append(f"| {title} | {lesson.question} | {lesson.reading} min | {exercises} |")
    table = "\n".join(rows)
    read, solve = (count(round(minutes / 60), "hour") for minutes in (reading, solving))
    text = f"Reading the {count(len(names), 'lesson')} takes about {read}, and the exercises take up to {solve}.\n\n{table}\n"
    return TABLE.sub(lambda match: f"{match[1]}{text}\n{match[2]}", readme)
