"""Lesson 17. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="17",
    title="Neural Turing machines",
    question="Can attention write?",
    goals=(
        "say how weights over positions read, erase and add, and why gradients reach them",
        "calculate by hand where a head goes: content, gate, shift and sharpening",
        "take one part of the addressing out of such a machine, predict what it then fails to learn, and check it",
        "judge from several seeds how well such machines copy longer sequences than those in training",
    ),
    needs="lesson 04: cosine scores; lesson 15: the LSTM; lesson 16: memories",
    reading=50,
    runs="a minute",
)
