"""What is asked: one file a lesson, each with its tasks. Finds them by id; judges nothing."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from course_utils.checks.task import Task

__all__ = ["Task", "by_lesson", "load"]


@cache
def by_lesson():
    """{"02": [Task, …], …}, in reading order."""
    modules = sorted(m.name for m in iter_modules(__path__) if m.name.startswith("lesson_"))
    return {name.removeprefix("lesson_"): _tasks(name) for name in modules}


def _tasks(module):
    return [t for t in vars(import_module(f"{__name__}.{module}")).values() if isinstance(t, Task)]


def load(task_id):
    """The task of that id. Raises KeyError with a sentence that names the known ones."""
    lesson = str(task_id).partition(".")[0]
    try:
        known = _tasks(f"lesson_{lesson}")
    except ModuleNotFoundError:
        raise KeyError(f'There is no task "{task_id}". Lessons with tasks: {", ".join(by_lesson())}.') from None
    found = [task for task in known if task.id == task_id]
    if not found:
        raise KeyError(f'There is no task "{task_id}". Lesson {lesson} has {", ".join(t.id for t in known)}.')
    return found[0]
