"""What is asked: a folder for each lesson, and in it a file for each task. Finds lessons and tasks; judges nothing.

`lesson_NN/__init__.py` declares the `lesson`, every other file in it one `task`; a file whose name begins with an underscore holds
what several tasks share. Tasks come in the order of their answers in `answers.json`, which the build writes in the order of the
solutions; one that has not been built yet comes last.
"""

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from course_utils.base.errors import CourseError
from course_utils.checks.lesson import Lesson
from course_utils.checks.task import Task

__all__ = ["Lesson", "Task", "answers", "by_lesson", "lessons", "load"]

HERE = Path(__file__).parent


@cache
def lessons() -> dict[str, Lesson]:
    """Return {"02": its Lesson, …}, in reading order."""
    found = sorted(module.name for module in iter_modules(__path__) if module.name.startswith("lesson_"))
    return {name.removeprefix("lesson_"): import_module(f"{__name__}.{name}").lesson for name in found}


@cache
def by_lesson() -> dict[str, list[Task]]:
    """Return {"02": [its Tasks], …} for the lessons that have tasks, in reading order."""
    return {number: found for number in lessons() if (found := tasks_of(number))}


@cache
def tasks_of(number: str) -> list[Task]:
    """Return the tasks of one lesson, in the order of its exercises. An error in a task's file is raised as it is."""
    package = import_module(f"{__name__}.lesson_{number}")
    names = [module.name for module in iter_modules(package.__path__) if not module.name.startswith("_")]
    order = {task_id: place for place, task_id in enumerate(answers())}
    found = [import_module(f"{package.__name__}.{name}").task for name in names]
    return sorted(found, key=lambda task: order.get(task.id, len(order)))


@cache
def answers() -> dict[str, str]:
    """Return the source of an answer to each task, by its id, as the build wrote them from `solutions/`."""
    return json.loads((HERE / "answers.json").read_text(encoding="utf-8"))


def load(task_id: str) -> Task:
    """Return the task of that id. Raises `CourseError`, which names the known ones."""
    number, _, name = str(task_id).partition(".")
    if number not in by_lesson():
        raise CourseError(f'There is no task "{task_id}". Lessons with tasks: {", ".join(by_lesson())}.')
    found = [task for task in tasks_of(number) if task.id == task_id]
    if not found:
        raise CourseError(
            f'There is no task "{task_id}". Lesson {number} has {", ".join(t.id for t in tasks_of(number))}.'
        )
    return found[0]
