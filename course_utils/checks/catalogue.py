"""Finds lessons, tasks and questions in the lessons' package; judges nothing. The rest of the course gets them here and imports no lesson.

`lesson_NN_title/__init__.py` declares the `lesson`, `questions.md` its questions and predictions, and each module of `tasks/` one `task`;
modules whose names begin with an underscore hold what several tasks share. Tasks are in the order of their exercises, as in
`solutions.json`. A task that has not been built yet comes last.
"""

import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from course_utils.base.errors import CourseError
from course_utils.base.paths import LESSONS, QUESTIONS, number_of
from course_utils.base.words import did_you_mean
from course_utils.checks.instructor_mistakes import (
    PACKED_MISTAKES,
    InstructorMistake,
    instructor_file,
    read,
    unpacked,
    with_instructor_mistakes,
)
from course_utils.checks.lesson import Lesson
from course_utils.checks.question import NumberQuestion, Prediction, Question
from course_utils.checks.question_file import read_questions
from course_utils.checks.solutions import imports_of, lessons_folder, packed_sources, solutions
from course_utils.checks.task import Mistake, Task

__all__ = [
    "Lesson",
    "NumberQuestion",
    "Prediction",
    "Question",
    "Task",
    "asked",
    "by_lesson",
    "lessons",
    "load",
    "solutions",
]


@cache
def lessons() -> dict[str, Lesson]:
    """Return {"02": its Lesson, …}, in reading order."""
    found = [name for name in _modules(import_module(LESSONS)) if name.startswith("lesson_")]
    return {number_of(name.removeprefix("lesson_")): import_module(f"{LESSONS}.{name}").lesson for name in found}


@cache
def by_lesson() -> dict[str, list[Task]]:
    """Return {"02": [its Tasks], …} for the lessons that have tasks, in reading order."""
    return {number: found for number in lessons() if (found := tasks_of(number))}


@cache
def tasks_of(number: str) -> list[Task]:
    """Return the tasks of one lesson, in the order of its exercises. An error in a task's file is passed on."""
    tasks = f"{_package(number).__name__}.tasks"
    names = _modules(import_module(tasks)) if find_spec(tasks) else []
    order = {task_id: place for place, task_id in enumerate(solutions())}
    found = [import_module(f"{tasks}.{name}").task for name in names if not name.startswith("_")]
    _written.update({task.id: (task, list(task.mistakes)) for task in found})
    for task in found:
        _add_instructor_mistakes(task)
    return sorted(found, key=lambda task: order.get(task.id, len(order)))


@cache
def questions_of(number: str) -> tuple[Question | NumberQuestion, ...]:
    """Return the questions of one lesson, in order; none if the lesson, or its file of questions, does not exist."""
    return tuple(_read_questions(number)[0])


@cache
def predictions_of(number: str) -> tuple[Prediction, ...]:
    """Return the predictions of one lesson, in order."""
    return tuple(_read_questions(number)[1])


@cache
def _read_questions(number):
    if number not in lessons():
        return (), ()
    path = Path(_package(number).__file__).with_name(QUESTIONS)
    return read_questions(path, number) if path.is_file() else ((), ())


def _package(number):
    (name,) = (name for name in _modules(import_module(LESSONS)) if name.startswith(f"lesson_{number}_"))
    return import_module(f"{LESSONS}.{name}")


def _modules(package):
    return sorted(module.name for module in iter_modules(package.__path__))


def asked(number: str, questions: bool) -> list:
    """Return what a class is graded on in one lesson: its tasks, and its questions if they are wanted."""
    found = by_lesson().get(number, ())
    return [*found, *(questions_of(number) if questions and found else ())]


class _Instructor:
    """The instructor's mistakes in this process; `mistakes` is None until they are wanted. `here`: whether they may run in it."""

    mistakes, here = None, True


_written: dict[str, tuple[Task, list[Mistake]]] = {}  # the loaded tasks by id, with the mistakes that the course names


def instructor_mistakes() -> list[InstructorMistake]:
    """Return the mistakes that an instructor has added to tasks. If their file cannot be read, say so once and go on without them."""
    if _Instructor.mistakes is None:
        try:
            _Instructor.mistakes = read_instructor_mistakes()
        except CourseError as problem:
            _go_on_without_them(problem)
    return _Instructor.mistakes


def _go_on_without_them(problem):
    _Instructor.mistakes = []
    print(f"{problem} Until this is corrected, checks go on without your own mistakes.", file=sys.stderr)


def _add_instructor_mistakes(task):
    try:
        task.mistakes[:] = with_instructor_mistakes(task, instructor_mistakes(), _Instructor.here)
    except CourseError as problem:
        _go_on_without_them(problem)


def read_instructor_mistakes(file: Path | None = None) -> list[InstructorMistake]:
    """Return the mistakes in a file, or those that belong to this copy of the course. Raises `CourseError` for what cannot be read."""
    held = lessons_folder() / PACKED_MISTAKES
    if file is None and held.is_file():
        return unpacked(held.read_text(encoding="utf-8"))
    file = file or instructor_file()
    if file and packed_sources():
        raise CourseError(
            f"{file} cannot be used here, because this copy of the course has no solutions to change. Name it where the copy is made."
        )
    return read(file, solutions(), imports_of) if file else []


def use_instructor_mistakes(mistakes: Iterable[InstructorMistake], here: bool = True) -> None:
    """Have this process use these mistakes of an instructor's and no others.

    Args:
        mistakes: from `read_instructor_mistakes`.
        here: whether they may run in this process; otherwise they have no function, and only a sandbox runs them.

    Raises `CourseError` for a sentence whose mistake the task does not have.
    """
    _Instructor.mistakes, _Instructor.here = list(mistakes), here
    for number in sorted({each.task.partition(".")[0] for each in _Instructor.mistakes}):
        tasks_of(number)
    for task, written in _written.values():
        task.mistakes[:] = written
        task.mistakes[:] = with_instructor_mistakes(task, _Instructor.mistakes, here)


def load(task_id: str) -> Task | Question | NumberQuestion:
    """Return the task or question with this id. Raises `CourseError`, which names the known ones."""
    number = number_of(str(task_id).partition(".")[0])
    if number not in by_lesson():
        meant = did_you_mean(str(task_id), solutions())
        raise CourseError(f'There is no task "{task_id}"{meant}. Lessons with tasks: {", ".join(by_lesson())}.')
    known = {each.id: each for each in asked(number, questions=True)}
    if task_id not in known:
        meant = did_you_mean(task_id, known)
        raise CourseError(f'There is no task "{task_id}"{meant}. Lesson {number} has {", ".join(known)}.')
    return known[task_id]


def load_prediction(prediction_id: str) -> Prediction:
    """Return the prediction with this id. Raises `CourseError`, which names the known ones."""
    known = {each.id: each for number in lessons() for each in predictions_of(number)}
    if prediction_id not in known:
        number = number_of(prediction_id.partition(".")[0])
        if prediction_id in {each.id for each in asked(number, questions=True)}:
            raise CourseError(f'{prediction_id} is not a prediction: answer it with `check("{prediction_id}", …)`.')
        meant = did_you_mean(prediction_id, known)
        here = [name for name in known if name.startswith(f"{number}.")]
        there = f"Lesson {number} has {', '.join(here)}." if here else "An id begins with its lesson, as in `02.cold`."
        raise CourseError(f'There is no prediction "{prediction_id}"{meant}. {there}')
    return known[prediction_id]
