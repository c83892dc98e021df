"""Lesson 04. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="04",
    title="Alignment scores",
    question="Eight ways to compare a query with a key: does it matter which?",
    goals=(
        "compute all eight alignment scores by hand",
        "say which two of them are one function, which one ignores the query and which one ignores the keys",
        "say why the dot product is divided by √D",
        "choose a score by what it can notice and what it costs",
    ),
    needs="lesson 03: query, key, value, and the three steps score, normalise, sum",
    reading=50,
    runs="half a minute",
)
