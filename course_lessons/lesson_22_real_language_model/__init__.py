"""Lesson 22. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="22",
    title="A real language model",
    question="What is inside the models that we use every day?",
    goals=(
        "say how byte-pair encoding splits a text into tokens, and learn its merges",
        "turn lesson 21's GPT into a Llama by replacing its norm, feed-forward network, positions and attention",
        "load published weights into a class of your own, and unpack four-bit weights",
        "let the model write with a cache, and say why it answers questions instead of continuing them",
        "switch off one head in a real model, and say what it was needed for",
        "classify reviews by comparing log probabilities, and say what such a result does and does not show",
    ),
    needs="lesson 11: positions; lesson 21: a GPT, its cache and induction heads",
    reading=70,
    runs="a minute and a half",
)
