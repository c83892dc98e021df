"""Lesson 04. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="04",
    title="Alignment scores",
    question="Eight ways to compare a query with a key: does it matter which?",
    goals=(
        "compute all eight alignment scores by hand",
        "say which two are the same function, which one ignores the query and which one ignores the keys",
        "explain why the dot product is divided by √D",
        "choose a score according to what it depends on and what it costs",
    ),
    needs="lesson 03: query, key and value, and the three steps: score, normalise, sum",
    reading=50,
    runs="half a minute",
)
