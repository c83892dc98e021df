"""Lesson 01. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="01",
    title="Bag of words",
    question="What can a sum of word vectors do, and where is it bound to fail?",
    goals=(
        "turn sentences into numbers",
        "sum word vectors under a mask",
        "train logistic regression on the sum",
        "read word polarity as a direction",
        "say where every sum, and where every linear score, is bound to fail",
    ),
    needs="lesson 00: shapes, masks, `@` and gradients; the dot product and the logarithm",
    reading=60,
    runs="half a minute",
)
