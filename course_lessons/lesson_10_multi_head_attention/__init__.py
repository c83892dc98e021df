"""Lesson 10. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="10",
    title="Multi-head attention",
    question="Why several heads?",
    goals=(
        "show how one head mixes two facts and how two heads keep them apart",
        "read the equation of multi-head attention and follow a query through it",
        "build multi-head attention that matches PyTorch's, masks included",
        "say when one head is enough and what several heads cost",
        "measure what a trained head looks at and what is lost without it",
    ),
    needs="lesson 09: self-attention, masks; lesson 07: BLEU",
    reading=60,
    runs="a minute",
)
