"""Lesson 18. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="18",
    title="Mixture of experts",
    question="Who should answer?",
    goals=(
        "say how a gate attends to networks instead of words, and why experts that compete can answer alone",
        "compute by hand the weights of the best k experts, and say what an expert with a weight of 0 learns",
        "say how a gate learns if only one expert answers",
        "predict what happens without a balance loss, explain it, and compute a balance loss by hand",
        "compare a Transformer with experts and one without, at equal work per token and at equal parameters",
    ),
    needs="lesson 03: queries, keys and values; lesson 12: the Transformer",
    reading=50,
    runs="half a minute",
)
