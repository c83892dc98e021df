"""The mistakes that an instructor has added to tasks, in a file named `course_mistakes.md`:

    ## 03.attention: mean_of_values

    You return the plain mean of the values: the weights are not used.

        weights @ value -> value.mean(1, keepdim=True).expand_as(weights @ value)

A heading gives the task and a name. Below it is what a learner who makes this mistake is told, then, indented by four spaces, what the
mistake changes in the solution (`changed_solution.py` shows how). If the task already has a mistake with this name and no change follows,
only its sentence is replaced.

The changes are code, so the file is one that somebody has named or the one beside the course's own code, never one that is found in the current
folder, which may be a student's. Here the changed solutions are only text; where a class is graded, they run in the sandbox. A copy
of the course without solutions contains them, in `course_lessons/instructor_mistakes.json`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.paths import PUBLISHED, is_clone
from course_utils.base.sanitise import clean
from course_utils.base.words import did_you_mean
from course_utils.checks.changed_solution import changed, refuse_undefined
from course_utils.checks.task import Mistake, Task
from course_utils.checks.task_text import sections

FILE = "course_mistakes.md"
PACKED_MISTAKES = "instructor_mistakes.json"
HEADING = re.compile(r"(\d\d\.\w+): (\w+)")
BYTES_AT_MOST = 2**20  # of a file


@dataclass(frozen=True)
class InstructorMistake:
    """A mistake from the file. `source` is the changed solution; "" if only the sentence is replaced."""

    task: str
    name: str
    sentence: str
    source: str
    line: int = 0


def instructor_file() -> Path | None:
    """Return the file with an instructor's mistakes beside the course's own code, in its clone or its wheel; None if there is none."""
    clone = PUBLISHED.parents[1]
    places = [clone / FILE] if is_clone(clone) else [PUBLISHED / FILE]
    return next((place for place in places if place.is_file()), None)


def packed(own: Iterable[InstructorMistake]) -> str:
    """Return mistakes as the text of `PACKED_MISTAKES`."""
    return json.dumps([asdict(each) for each in own], indent=1, ensure_ascii=False)


def unpacked(text: str) -> list[InstructorMistake]:
    """Return the mistakes in the text of `PACKED_MISTAKES`."""
    return [InstructorMistake(**each) for each in json.loads(text)]


def read(file: Path, solutions: Mapping[str, str], imports_of: Callable[[str], str]) -> list[InstructorMistake]:
    """Return the mistakes in a file, with the changed solutions. Raises `CourseError` for the first that cannot be read.

    Args:
        file: as shown above.
        solutions: their source, by task.
        imports_of: returns the imports that a task's solution may use.
    """
    own, seen = [], set()
    for section in sections(_text(file)):
        number, heading, changes = section.line, section.heading, list(section.changes)
        try:
            match = HEADING.fullmatch(heading)
            if not match:
                raise CourseError(
                    f"expected a heading such as `## 03.attention: name_of_the_mistake`, not {f'## {heading}'!r}"
                )
            task, name = match.groups()
            if task not in solutions:
                raise CourseError(f"there is no task {task}{did_you_mean(task, solutions)}")
            if not section.paragraphs:
                raise CourseError("write below the heading what a learner who makes this mistake should be told")
            if (task, name) in seen:
                raise CourseError(f"{task} has two mistakes named {name}")
            source = changed(solutions[task], changes, imports_of(task)) if changes else ""
            refuse_undefined(source)
        except CourseError as problem:
            raise CourseError(f"{file}, line {number}: {problem}.") from None
        except (RecursionError, MemoryError):  # thousands of brackets, for example
            raise CourseError(f"{file}, line {number}: a change is too long or too deeply nested.") from None
        seen.add((task, name))
        own.append(InstructorMistake(task, name, " ".join(section.paragraphs), source, number))
    return own


def _text(file):
    """Return the text of a file of mistakes, without what a terminal would obey."""
    try:
        if not file.is_file():
            raise CourseError(f"cannot read your own mistakes from {file}: there is no such file.")
        if file.stat().st_size > BYTES_AT_MOST:
            raise CourseError(f"{file} has more than a megabyte: it can hardly be a file of mistakes.")
        return clean(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise CourseError(f"{file}, line {line}, is not UTF-8: save the file in your editor as UTF-8.") from None
    except OSError as error:
        raise CourseError(f"cannot read your own mistakes from {file}: {error.strerror}.") from None


def with_instructor_mistakes(task: Task, every: Iterable[InstructorMistake], here: bool = True) -> list[Mistake]:
    """Return a task's mistakes with an instructor's added, or replacing or rewording those of the same name.

    `here`: whether they may run in this process; otherwise they have no function. Raises `CourseError` for a sentence without a mistake.
    """
    mistakes = {mistake.name: mistake for mistake in task.mistakes}
    for own in (own for own in every if own.task == task.id):
        if own.source:
            make = partial(task.function_from, own.source, own.name) if here else None
            mistakes[own.name] = Mistake(own.name, own.sentence, make=make, source=own.source)
        elif own.name in mistakes:
            mistakes[own.name] = mistakes[own.name].reworded(own.sentence)
        else:
            raise CourseError(
                f"{task.id} has no mistake {own.name}{did_you_mean(own.name, mistakes)}: write below its sentence what it changes in the solution."
            )
    return list(mistakes.values())
