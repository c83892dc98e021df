"""Lesson 07. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="07",
    title="Decoding",
    question="Which translation is best?",
    goals=(
        "show by hand where greedy search misses the most probable translation",
        "follow a beam search through its rounds and say what happens to translations that end",
        "tell a search error from a model error and correct for length",
        "compute BLEU by hand and say what it misses",
    ),
    needs="lesson 05: decoder, teacher forcing; lesson 06: attention; logarithms",
    reading=45,
    runs="half a minute",
)
