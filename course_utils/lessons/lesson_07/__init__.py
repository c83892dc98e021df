"""Lesson 07. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="07",
    title="Decoding",
    question="Which translation is best?",
    goals=(
        "show by hand where greedy search misses the most probable translation",
        "follow a beam search through its rounds, with translations that end",
        "say why long translations need a correction, and what a beam that is too wide does",
        "compute BLEU by hand, and say what it does not see",
        "say what happens to a decoder that reads its own errors",
    ),
    needs="lesson 05: decoder, teacher forcing; lesson 06: attention; logarithms",
    reading=55,
    runs="half a minute",
)
