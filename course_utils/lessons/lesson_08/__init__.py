"""Lesson 08. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="08",
    title="Hard and local attention",
    question="Must attention be soft?",
    goals=(
        "tell soft from hard attention and global from local, and say what each of them reads",
        "estimate a gradient from samples and their rewards, and compare it with the exact one",
        "say what a baseline changes about such an estimate, and what it leaves as it is",
        "compute the weights of a local window, and say where a window is not enough",
    ),
    needs="lesson 03: weighted sums by dot product; lesson 06: attention in a translator; expectation and variance",
    reading=55,
    runs="a quarter of a minute",
)
