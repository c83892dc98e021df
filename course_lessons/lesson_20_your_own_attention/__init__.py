"""Lesson 20. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="20",
    title="Your own attention",
    question="What will your own attention mechanism look like?",
    goals=(
        "write tests for what attention promises and see which faults they catch",
        "change the score, the normaliser or the memory for a reason that you can state",
        "say where ALiBi, sparsemax, linear attention and the delta rule win and lose on two toy tasks",
        "remove a part to see what it does, and compare seed by seed",
        "report what you changed, what you expected, what you found and what you do not know",
    ),
    needs="lesson 09: self-attention; lesson 10: heads; lesson 11: positions",
    reading=60,
    runs="a minute",
)
