"""Lesson 10. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="10",
    title="Multi-head attention",
    question="Why several heads?",
    goals=(
        "show how one head mixes two facts, how two heads keep them apart, and what a hidden layer can do instead",
        "read the equation of multi-head attention, and follow a query through it",
        "build multi-head attention that equals the library's, masks included",
        "find out by measuring what a head of a trained model looks at",
        "say what switching heads off shows about them, and what it does not",
    ),
    needs="lesson 09: self-attention, masks; lesson 07: BLEU",
    reading=60,
    runs="half a minute",
)
