"""Lesson 11. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="11",
    title="Positions",
    question="How can attention know the order of the words?",
    goals=(
        "show what a model without positions cannot tell apart",
        "compute a sinusoidal vector for any position and say what its fast and slow pairs are for",
        "show that one matrix moves every position and use it to find the previous word",
        "rotate queries and keys so that positions enter their products only as a signed distance",
        "say what learned, sinusoidal and rotary positions do beyond the trained lengths",
    ),
    needs="lesson 09: self-attention ignores order; lesson 10: heads",
    reading=50,
    runs="a minute",
)
