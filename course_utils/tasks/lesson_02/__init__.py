"""Lesson 02. Its tasks stand in this folder, a file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="02",
    title="Weighted sums",
    question="Can a word's weight depend on the other words?",
    goals=(
        "turn scores into weights with softmax, temperature and a mask",
        "give a fixed attention a direction",
        "say what of a word depends on the other words: its score or its weight",
        "say what one attention cannot do and two can",
        "follow the error backward through attention",
    ),
    needs="lesson 01: word vectors, the sum, logistic regression",
    reading=60,
    runs="half a minute",
)
