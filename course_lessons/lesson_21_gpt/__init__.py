"""Lesson 21. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="21",
    title="Your own GPT",
    question="How does a model write, and how can it copy?",
    goals=(
        "say which half of a Transformer each of BERT and GPT keeps, and why only one of them can write with a cache",
        "write a decoder-only Transformer, train it, and compare it with the best that any model could do",
        "say what temperature, top-k and nucleus sampling do to the probabilities of the next character",
        "let a model write with a cache, and say what the cache saves and what it costs",
        "describe the two steps by which an induction head copies, and test whether a head is one",
    ),
    needs="lesson 11: positions; lesson 12: the Transformer; lesson 13: warm-up",
    reading=40,
    runs="a minute",
)
