"""Lesson 20. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="20",
    title="Your own attention",
    question="What will your own attention be?",
    goals=(
        "write tests for what an attention promises, and see which faults they catch",
        "change the score, the normaliser or the memory of an attention, for a reason that you can say",
        "say what ALiBi, sparsemax, linear attention and the delta rule win and lose in two worlds",
        "take a part out to see what it does, and compare seed by seed",
        "report what you changed, what you expected, what the result was, and what you do not know",
    ),
    needs="lesson 09: self-attention; lesson 10: heads; lesson 11: positions",
    reading=60,
    runs="a minute",
)
