"""The mistakes that an instructor has added to tasks, in a file named `course_mistakes.md`:

    ## 03.attention: mean_of_values

    You return the plain mean of the values: the weights are not used.

        weights @ value -> value.mean(1, keepdim=True).expand_as(weights @ value)

A heading gives the task and a name. Below it is what a learner who makes this mistake is told, then, indented by four spaces, what the
mistake changes in the solution (`changed_solution.py` shows how). If the task already has a mistake with this name and no change follows,
only its sentence is replaced.

The file is in the folder of the clone or in the one that contains my_course. `course mistakes` tries everything in it. A copy of the
course without solutions contains the changed solutions instead, in `course_lessons/instructor_mistakes.json`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.paths import PUBLISHED, learners_folder
from course_utils.base.words import did_you_mean
from course_utils.checks.changed_solution import changed, refuse_undefined
from course_utils.checks.task import Mistake, Task
from course_utils.checks.task_text import sections

FILE = "course_mistakes.md"
PACKED_MISTAKES = "instructor_mistakes.json"
HEADING = re.compile(r"(\d\d\.\w+): (\w+)")


@dataclass(frozen=True)
class InstructorMistake:
    """A mistake from the file. `source` is the changed solution; "" if only the sentence is replaced."""

    task: str
    name: str
    sentence: str
    source: str
    line: int = 0


def instructor_file() -> Path | None:
    """Return the file with an instructor's mistakes that counts here; None if there is none."""
    places = (learners_folder() / FILE, PUBLISHED / FILE)
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
    for section in sections(file.read_text(encoding="utf-8")):
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
        seen.add((task, name))
        own.append(InstructorMistake(task, name, " ".join(section.paragraphs), source, number))
    return own


def add_instructor_mistakes(task: Task, every: Iterable[InstructorMistake]) -> None:
    """Add an instructor's mistakes to a task, replacing or rewording any of the same name."""
    for own in (own for own in every if own.task == task.id):
        known = {mistake.name: place for place, mistake in enumerate(task.mistakes)}
        if not own.source and own.name not in known:
            raise CourseError(
                f"{task.id} has no mistake {own.name}{did_you_mean(own.name, known)}: write below its sentence what it changes in the solution."
            )
        new = Mistake(own.name, own.sentence, task.function_from(own.source, own.name)) if own.source else None
        if own.name in known:
            place = known[own.name]
            task.mistakes[place] = new or task.mistakes[place].reworded(own.sentence)
        else:
            task.mistakes.append(new)
