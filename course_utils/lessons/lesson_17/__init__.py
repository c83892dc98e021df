"""Lesson 17. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="17",
    title="Neural Turing machines",
    question="Can attention write?",
    goals=(
        "say how weights over positions let a network read, erase and add, and why all of it has gradients",
        "compute by hand where a head goes: content, interpolation, shift and sharpening",
        "take a part out of such a machine, predict what it can no longer learn, and check it",
        "say what the neural Turing machine lacks that allocation and temporal links add",
        "judge from several seeds how reliably such machines go beyond the lengths of their training",
    ),
    needs="lesson 04: cosine scores; lesson 16: memories and hops",
    reading=55,
    runs="half a minute",
)
