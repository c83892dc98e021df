"""Lesson 90, for tests alone: a small task of each kind that the course's first lessons do not have yet."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="90",
    title="Kinds",
    question="Can each kind of answer be judged?",
    goals=("judge each kind of answer",),
    needs="nothing",
    reading=1,
    runs="no time",
)
