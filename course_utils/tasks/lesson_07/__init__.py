"""Lesson 07. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="07",
    title="Decoding",
    question="Which translation is best?",
    goals=(
        "compute how probable a translation is, and say why we add logarithms",
        "search for a probable translation greedily and with a beam, and say what each of them misses",
        "say what a length penalty changes and why it is needed",
        "compute BLEU by hand, and say what it measures and what it does not",
    ),
    needs="lesson 05: encoder and decoder; softmax from lesson 02",
    reading=60,
    runs="half a minute",
)
