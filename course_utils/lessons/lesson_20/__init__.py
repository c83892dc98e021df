"""Lesson 20. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="20",
    title="Your own attention",
    question="What will your own attention be?",
    goals=(
        "write tests that any attention has to pass, and see which faults they catch",
        "change the score, the normaliser or the memory of an attention, and say what you expect of it",
        "say what ALiBi, sparsemax, linear attention and the delta rule win and lose, and which part does it",
        "compare your own attention with others in two worlds, with seeds and spread",
        "report what you changed, what came of it, and what you do not know",
    ),
    needs="lesson 09: self-attention; lesson 10: heads; lesson 11: positions",
    reading=60,
    runs="half a minute",
)
