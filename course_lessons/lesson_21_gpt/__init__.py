"""Lesson 21. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="21",
    title="Your own GPT",
    question="How does a model write, and how can it copy?",
    goals=(
        "say which half of a Transformer each of BERT and GPT keeps, and why only one of them can reuse what it has computed for earlier words",
        "write a decoder-only Transformer, train it, and compare it with the best that any model could do",
        "say what temperature, top-k and nucleus sampling do to the probabilities of the next character",
        "let a model write without rereading its own text, and say what this saves and costs",
        "describe two steps by which attention can copy, and test whether a model uses them",
    ),
    needs="lesson 11: positions; lesson 12: the Transformer; lesson 13: warm-up",
    reading=60,
    runs="a minute",
)
