"""Lesson 18. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="18",
    title="Mixture of experts",
    question="Who should answer?",
    goals=(
        "say how a gate attends to networks instead of words, and what an expert with a gate of 0 learns",
        "compute by hand the gates of the best k experts and a balance loss",
        "predict what a network forgets of an old task while it learns a new one, with and without experts",
        "take the balance loss out of a mixture, predict what happens, and explain it; say what capacity costs",
        "compare a Transformer with experts and one without, at equal work per token and at equal parameters",
    ),
    needs="lesson 03: queries, keys and values; lesson 12: the Transformer; lesson 13: Adam",
    reading=75,
    runs="a minute",
)
