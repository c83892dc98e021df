"""A lesson's metadata: the facts from which its header, the exercises' header and the README's table are generated.

A lesson is declared in `course_lessons/lesson_NN_title/__init__.py`:

    lesson = Lesson(
        number="04",
        title="Alignment scores",
        question="Eight ways to compare a query with a key: does it matter which?",
        goals=("write all eight alignment scores", "say why the dot product is divided by √D"),
        needs="lesson 03: query, key, value",
        reading=75,
        runs="half a minute",
    )

Not here: its tasks, which are in `tasks/`, a file each, and its text, which is `lesson.py`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """The facts of one lesson."""

    number: str  # two digits
    title: str  # a few words, for tables and for the exercises' heading
    question: str  # what the lesson answers: its heading
    goals: tuple[str, ...]  # each completes "You will be able to …"
    needs: str  # completes "You need …"
    reading: int  # minutes for the lesson, without its exercises
    runs: str  # completes "The notebook runs in …", on a laptop's CPU
    gpu: str = "not needed"  # completes "A GPU is …"
