"""Lesson 00. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="00",
    title="Start here",
    question="What is a weighted sum, and how does this course check your work?",
    goals=(
        "compute a weighted sum on paper and in code",
        "read the PyTorch of this course: shapes, broadcasting with `None`, `@`, masks, gradients",
        "check an answer and read a report of what is wrong with it",
        "find help when you are stuck",
    ),
    needs="a little Python and the basics of vectors and derivatives",
    reading=30,
    runs="a few seconds",
)
