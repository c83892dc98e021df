"""Lesson 14. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="14",
    title="Glimpses",
    question="Where should a network look next?",
    goals=(
        "compute what a glimpse with sharp and coarse patches shows of a picture, and how many numbers it contains",
        "say what a glimpse network, a core and a location network each receive and return",
        "train a choice of locations with REINFORCE and say which part of the loss moves which weights",
        "compute which way a reward moves the mean of the next location",
        "find out whether a model has seen more of a picture than its glimpses show",
    ),
    needs="lesson 08: hard attention, rewards and a baseline",
    reading=55,
    runs="a minute",
)
