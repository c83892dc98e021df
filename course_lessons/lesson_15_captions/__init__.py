"""Lesson 15. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="15",
    title="Show, Attend and Tell",
    question="Which part of the picture does this word describe?",
    goals=(
        "say what an annotation of a picture is, and how a caption decoder starts and looks",
        "compute by hand what a gate lets through, and what the penalty on overlooked cells costs",
        "measure how often a word's weights point to the thing it names, and compare this with chance",
        "test what a word depends on by changing the picture, and say what a map of weights does and does not show",
    ),
    needs="lesson 06: attention in a decoder; lesson 11: positions",
    reading=60,
    runs="two minutes",
)
