"""What is asked: a folder for each lesson, and in it a file for each task. Finds lessons and tasks; judges nothing.

`lesson_NN/__init__.py` declares the `lesson`, `_questions.py` its `questions` and `predictions`, every other file one `task`; a file whose
name begins with an underscore may also hold what several tasks share. Tasks come in the order of their answers in `answers.json`, which the build writes in the order of the
solutions; one that has not been built yet comes last.
"""

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from course_utils.base.errors import CourseError
from course_utils.base.places import number_of
from course_utils.checks.lesson import Lesson
from course_utils.checks.question import NumberQuestion, Prediction, Question
from course_utils.checks.task import Task

__all__ = [
    "Lesson",
    "NumberQuestion",
    "Prediction",
    "Question",
    "Task",
    "answers",
    "asked",
    "by_lesson",
    "lessons",
    "load",
]

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
def questions_of(number: str) -> tuple[Question | NumberQuestion, ...]:
    """Return the questions of one lesson, in order; none where it has no file of questions."""
    return _asked_in(number, "questions")


@cache
def predictions_of(number: str) -> tuple[Prediction, ...]:
    """Return what is to be predicted in one lesson."""
    return _asked_in(number, "predictions")


def _asked_in(number, name):
    package = import_module(f"{__name__}.lesson_{number}")
    if "_questions" not in [module.name for module in iter_modules(package.__path__)]:
        return ()
    return getattr(import_module(f"{package.__name__}._questions"), name, ())


def asked(number: str, questions: bool) -> list:
    """Return what a class is graded on in one lesson: its tasks, and its questions if they are wanted."""
    found = by_lesson().get(number, ())
    return [*found, *(questions_of(number) if questions and found else ())]


@cache
def answers() -> dict[str, str]:
    """Return the source of an answer to each task, by its id, as the build wrote them from `solutions/`."""
    return json.loads((HERE / "answers.json").read_text(encoding="utf-8"))


def load(task_id: str) -> Task | Question | NumberQuestion:
    """Return the task, or the question, of that id. Raises `CourseError`, which names the known ones."""
    number = number_of(str(task_id))
    if number not in by_lesson():
        raise CourseError(f'There is no task "{task_id}". Lessons with tasks: {", ".join(by_lesson())}.')
    known = {each.id: each for each in asked(number, questions=True)}
    if task_id not in known:
        raise CourseError(f'There is no task "{task_id}". Lesson {number} has {", ".join(known)}.')
    return known[task_id]


def load_prediction(prediction_id: str) -> Prediction:
    """Return the prediction of that id. Raises `CourseError`, which names the known ones."""
    known = {each.id: each for number in lessons() for each in predictions_of(number)}
    if prediction_id not in known:
        raise CourseError(f'There is no prediction "{prediction_id}". There are {", ".join(known)}.')
    return known[prediction_id]
