"""Lesson 00. Its tasks stand in this folder, a file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="00",
    title="Start here",
    question="What is a weighted sum, and how does this course answer you?",
    goals=(
        "work through a lesson",
        "check an answer",
        "read what is wrong with it",
        "ask for a hint",
    ),
    needs="a little Python, and to know what a vector is",
    reading=15,
    runs="a few seconds",
)
