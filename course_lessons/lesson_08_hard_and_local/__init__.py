"""Lesson 08. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="08",
    title="Hard and local attention",
    question="Does attention have to be soft, and does it have to look at every word?",
    goals=(
        "tell soft, hard and local attention apart, and say what each of them reads",
        "estimate a gradient from draws and their rewards, and compare it with the exact one",
        "say what a baseline changes about such an estimate, and what it leaves as it is",
        "compute the weights of a local window, and say where a window is not enough",
    ),
    needs="lesson 03: queries, keys and values; lesson 04: the task “turned”; lesson 06: attention in a translation model",
    reading=55,
    runs="half a minute",
)
