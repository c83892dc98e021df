"""Lesson 21. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="21",
    title="A GPT of one's own",
    question="What is inside the models that we use every day?",
    goals=(
        "say which half of a Transformer BERT and GPT keep, and why only one of them can write with a cache",
        "write a decoder-only Transformer, train it, and compare it with the best that any model could do",
        "say in which two steps an induction head copies, and test whether a head is one",
        "say what temperature, top-k and nucleus do to the probabilities of the next character",
        "name what a model of today has in place of the parts of 2017, and compute how large its cache is",
        "compute a softmax in one pass, block by block",
    ),
    needs="lesson 11: positions; lesson 12: the Transformer; lesson 13: the cache",
    reading=50,
    runs="a minute",
)
