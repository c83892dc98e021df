"""Lesson 02. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="02",
    title="Weighted sums",
    question="How much should each word count?",
    goals=(
        "turn scores into weights with softmax, temperature and a mask",
        "compute the scores, weights and context of fixed attention",
        "say whether a word's score or its weight depends on the other words",
        "show what one vector θ cannot do, what two can do, and what no number of them can do without word order",
    ),
    needs="lesson 01: word vectors, the sum, logistic regression",
    reading=50,
    runs="half a minute",
)
